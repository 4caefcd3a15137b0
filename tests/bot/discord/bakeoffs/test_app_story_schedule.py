"""Process: a schedule in Discord, added in words, run at its slot, posted in its channel."""

import pytest

from tests.bot.discord.story import StoryBot
from tests.wire.discord import Channel
from tests.wire.discord.routes.channels import remove

pytestmark = pytest.mark.asyncio(loop_scope="package")

PATIENCE_SECONDS = 60
TIMES = {"suite": "sql", "panel": "house", "when": "every hour", "zone": "Europe/Budapest"}


async def posted(product: StoryBot, channel: Channel, said: str) -> str:
    def found() -> list[str]:
        return [m.text for m in product.discord.said_by_bot(channel) if said in m.text]

    await product.discord.until(lambda: bool(found()), PATIENCE_SECONDS)
    return found()[0]


async def test_a_schedule_runs_at_its_slot_in_the_channel_that_was_named(
    product: StoryBot,
) -> None:
    here, there = product.channel(), product.channel()

    reply = await product.run_as_admin(
        here, "schedule add", name="hourly-sql", channel=there, **TIMES
    )
    product.served.home.sql("UPDATE schedule SET last_slot = ''")
    await product.run("U2", here, "schedule subscribe", name="hourly-sql")
    await posted(product, there, "2 of 2 questions")

    assert "Every hour, Europe/Budapest time: suite sql of 2 questions runs on panel house" in reply
    assert "posted in another channel of Discord" in reply
    assert "A run costs nothing." in reply
    assert product.discord.said_by_bot(here) == []
    ids = product.served.home.sql("SELECT id, schedule FROM bakeoff")
    assert [id_.startswith(f"sched:{schedule}@") for id_, schedule in ids] == [True]


async def test_a_deleted_channel_pauses_the_schedule_and_tells_its_author(
    product: StoryBot,
) -> None:
    here, there = product.channel(), product.channel()
    await product.run_as_admin(here, "schedule add", name="doomed", channel=there, **TIMES)
    remove(product.discord.state, there)

    product.served.home.sql("UPDATE schedule SET last_slot = '' WHERE name = 'doomed'")
    await product.run("U2", here, "schedule subscribe", name="doomed")
    paused = "SELECT paused FROM schedule WHERE name = 'doomed'"
    await product.discord.until(lambda: product.served.home.sql(paused) == [(1,)])

    said = [message.text for message in product.discord.direct("UADMIN")]
    assert any("Your schedule doomed can't run, so it is paused." in text for text in said)
