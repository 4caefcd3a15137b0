"""A schedule in Discord: made in words, run at its slot, and told where it reports."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.bot.discord.story import StoryBot, run_story_bot
from tests.wire.discord import Channel
from tests.wire.discord.routes.channels import remove

pytestmark = pytest.mark.asyncio(loop_scope="session")

PATIENCE_SECONDS = 60
SUITES = '[suites.sql]\nquestions = ["Why WAL?", "Why MVCC?"]\n'
ADD = "add {name} suite:sql panel:house {when} Europe/Budapest {channel}"


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def scheduled(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[StoryBot]:
    """Return a product that has a suite."""
    async with run_story_bot(tmp_path_factory.mktemp("scheduled"), SUITES) as running:
        yield running


async def posted(product: StoryBot, channel: Channel, said: str) -> str:
    def found() -> list[str]:
        return [m.text for m in product.discord.said_by_bot(channel) if said in m.text]

    await product.discord.until(lambda: bool(found()), PATIENCE_SECONDS)
    return found()[0]


async def test_a_schedule_runs_at_its_slot_in_the_channel_that_was_named(
    scheduled: StoryBot,
) -> None:
    here, there = scheduled.channel(), scheduled.channel()
    add = ADD.format(name="hourly-sql", when="every hour", channel=f"<#{there.id}>")

    told = await scheduled.run("U1", here, "schedule", words=add)
    scheduled.served.home.sql("UPDATE schedule SET last_slot = ''")
    await scheduled.run("U2", here, "schedule", words="subscribe hourly-sql")
    await posted(scheduled, there, "2 of 2 questions")

    assert (
        "Every hour, Europe/Budapest time: suite sql of 2 questions is put to panel house" in told
    )
    assert "posted in another channel of Discord" in told
    assert "A run costs nothing." in told
    assert scheduled.discord.said_by_bot(here) == []
    ids = scheduled.served.home.sql("SELECT id, schedule FROM bakeoff")
    assert [id_.startswith(f"sched:{schedule}@") for id_, schedule in ids] == [True]


async def test_a_forbidden_channel_is_refused(scheduled: StoryBot) -> None:
    here, hidden = scheduled.channel(), scheduled.channel(hidden=True)
    add = ADD.format(name="refused", when="every day 09:00", channel=f"<#{hidden.id}>")

    told = await scheduled.run("UGUEST", here, "schedule", words=add)

    assert f"There is no channel {hidden.id} in this server that you and I both see" in told
    assert scheduled.served.home.sql("SELECT * FROM schedule WHERE name = 'refused'") == []


async def test_the_schedules_are_listed_without_arguments(scheduled: StoryBot) -> None:
    here = scheduled.channel()

    told = await scheduled.run("U1", here, "schedule")

    assert "schedule" in told.lower()


async def test_a_deleted_channel_pauses_the_schedule_and_tells_its_author(
    scheduled: StoryBot,
) -> None:
    here, there = scheduled.channel(), scheduled.channel()
    add = ADD.format(name="doomed", when="every hour", channel=f"<#{there.id}>")
    await scheduled.run("U1", here, "schedule", words=add)
    remove(scheduled.discord.state, there)

    scheduled.served.home.sql("UPDATE schedule SET last_slot = '' WHERE name = 'doomed'")
    await scheduled.run("U2", here, "schedule", words="subscribe doomed")
    paused = "SELECT paused FROM schedule WHERE name = 'doomed'"
    await scheduled.discord.until(lambda: scheduled.served.home.sql(paused) == [(1,)])

    said = [message.text for message in scheduled.discord.direct("U1")]
    assert any("Your schedule doomed cannot run, so it is paused." in text for text in said)
