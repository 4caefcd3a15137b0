"""Schedules: created in plain language, run at their slot, reported in their channel."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.bot.slack.story import Stage, run_stage, text_of
from tests.wire.slack import Message

pytestmark = pytest.mark.asyncio(loop_scope="package")

TIMEOUT_SECONDS = 60
SUITES = '[suites.sql]\nquestions = ["Why WAL?", "Why MVCC?"]\n'
ADD = "schedule add {name} suite:sql panel:house {when} Europe/Budapest {channel}"


@pytest_asyncio.fixture(loop_scope="package", scope="module")
async def scheduled(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with run_stage(tmp_path_factory.mktemp("scheduled"), SUITES) as running:
        running.slack.workspace.users["U1"].is_admin = True
        yield running


async def says(stage: Stage, user: str, channel: str, text: str) -> str:
    return text_of(await stage.reply_to(user, channel, text))


async def is_due(stage: Stage, name: str, channel: str) -> None:
    """Make the schedule due at once; in a thread, because the product may be writing."""
    await asyncio.to_thread(
        stage.home.sql, "UPDATE schedule SET last_slot = '' WHERE name = ?", name
    )
    await says(stage, "U1", channel, f"schedule subscribe {name}")


async def posted(stage: Stage, channel: str, said: str) -> Message:
    def found() -> list[Message]:
        return [message for message in stage.bot_messages(channel) if said in text_of(message)]

    await stage.slack.until(found, TIMEOUT_SECONDS)
    return found()[0]


async def test_a_schedule_runs_at_its_slot_in_the_named_channel(scheduled: Stage) -> None:
    here, there = scheduled.add_channel(), scheduled.add_channel()
    name = scheduled.slack.workspace.channels[there].name
    add = ADD.format(name="hourly-sql", when="every hour", channel=f"<#{there}|{name}>")

    told = await says(scheduled, "U1", here, add)
    listed = await says(scheduled, "U2", here, "schedule list")
    await is_due(scheduled, "hourly-sql", here)
    await posted(scheduled, there, "2 of 2 questions")

    assert "Every hour, Europe/Budapest time: suite sql of 2 questions runs on panel house" in told
    assert "posted in another channel of Slack" in told
    assert "Next:" in told
    assert "A run costs nothing." in told
    assert "hourly-sql" in listed
    assert scheduled.bot_messages(here) == []
    ids = scheduled.home.sql("SELECT id, schedule FROM bakeoff")
    assert [id_.startswith(f"sched:{schedule}@") for id_, schedule in ids] == [True]


async def test_an_archived_channel_pauses_the_schedule_and_notifies_its_creator(
    scheduled: Stage,
) -> None:
    here, there = scheduled.add_channel(), scheduled.add_channel()
    channel = scheduled.slack.workspace.channels[there]
    add = ADD.format(name="doomed", when="every hour", channel=f"<#{there}|{channel.name}>")
    await says(scheduled, "U1", here, add)
    channel.is_archived = True

    await is_due(scheduled, "doomed", here)
    alone = scheduled.slack.workspace.im_with("U1").id
    message = await posted(scheduled, alone, "Your schedule doomed can't run, so it is paused.")

    paused = "SELECT paused FROM schedule WHERE name = 'doomed'"
    await scheduled.slack.until(lambda: scheduled.home.sql(paused) == [(1,)])
    assert "This channel is archived" in text_of(message)


@pytest.mark.parametrize(
    ("channel", "why"),
    [
        ("#no-such-room", "There is no channel #no-such-room that you and I are both in"),
        ("{closed}", "that you and I are both in"),
        ("{shared}", "The council is off in channels shared with other organisations"),
    ],
)
async def test_a_channel_where_the_user_may_not_ask_is_refused(
    scheduled: Stage, channel: str, why: str
) -> None:
    workspace = scheduled.slack.workspace
    here = scheduled.add_channel()
    closed = workspace.channels[scheduled.add_channel(kind="private")]
    closed.members.discard("U1")
    shared = workspace.channels[scheduled.add_channel(shared=True)]
    named = {
        "closed": f"<#{closed.id}|{closed.name}>",
        "shared": f"<#{shared.id}|{shared.name}>",
    }

    told = await says(
        scheduled,
        "U1",
        here,
        ADD.format(name="refused", when="every day 09:00", channel=channel.format(**named)),
    )

    assert why in told
    assert scheduled.home.sql("SELECT * FROM schedule WHERE name = 'refused'") == []
