"""A blind vote in Discord while the judges vote: by anybody who sees the round, by button."""

import pytest

from bot.render.voting import READ_AND_VOTE
from tests.bot.discord.story import StoryBot, custom_id_of
from tests.bot.homes import SERVED
from tests.wire.discord import Message
from tests.wire.models import Hang, by_role

pytestmark = pytest.mark.asyncio(loop_scope="package")

VOTES = "SELECT label, blind FROM human_vote JOIN round ON round.id = round_id WHERE channel = ?"
VERDICTS = "SELECT count(*) FROM verdict JOIN round ON round.id = round_id WHERE channel = ?"


async def test_everybody_can_read_the_answers_and_vote_before_the_result(
    product: StoryBot,
) -> None:
    channel = product.channel()
    product.models.script |= {name: by_role(judge=lambda _: Hang()) for name in SERVED}
    asked = await product.discord.slash("U1", channel, "council ask", question="?", panel="served")

    def offers() -> list[Message]:
        return [one for one in product.discord.said_by_bot(channel) if custom_id_of(one, "vote")]

    await product.discord.until(lambda: offers(), 30)
    (offer,) = offers()
    assert READ_AND_VOTE in str(offer.components)
    assert offer.ephemeral_to is None
    assert [one for one in asked.sent if not one.is_loading] == []  # no receipt
    assert asked.original is None or not asked.original.channel.find(asked.original.id)
    opened = await product.discord.click(offer, custom_id_of(offer, "vote"), "U2")
    shown = await product.wait_for_reply(opened, "Response ")
    assert not any(name in shown for name in ("Up", "Down", "Left", "openai"))
    best = custom_id_of(opened.sent[-1], "best")
    result = await product.discord.click(opened.sent[-1], best, "U2")
    label = best.rpartition(":")[2]
    await product.discord.until(
        lambda: (
            f"your blind vote is for Response {label}" in opened.sent[-1].text
            or any("your blind vote" in message.text for message in result.sent)
        ),
        30,
    )
    assert product.served.home.sql(VERDICTS, channel.id) == [(0,)]
    assert product.served.home.sql(VOTES, channel.id) == [(label, 1)]
    product.models.script.clear()
