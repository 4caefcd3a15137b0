"""A blind vote in Slack while the judges vote: by anybody who sees the round, in a modal."""

import pytest

from bot.render.voting import READ_AND_VOTE
from tests.bot.homes import SERVED
from tests.bot.slack.story import Stage, text_of
from tests.wire.models import Hang, by_role
from tests.wire.slack import Message, View
from tests.wire.slack.fields import elements_in

pytestmark = pytest.mark.asyncio(loop_scope="package")

VOTES = (
    "SELECT by, label, blind FROM human_vote JOIN round ON round.id = round_id WHERE channel = ?"
)
VERDICTS = "SELECT count(*) FROM verdict JOIN round ON round.id = round_id WHERE channel = ?"


def best_labels(view: View) -> list[str]:
    """Return the labels that a modal has buttons for, in its order."""
    buttons = [one for _, one in elements_in(view.payload["blocks"])]
    values = [str(one["value"]) for one in buttons if "council:best" in one["action_id"]]
    return [value.rpartition(":")[2] for value in values]


async def offered(stage: Stage, channel: str) -> Message:
    """Ask judges that never vote; return the offer to vote."""
    stage.models.script |= {name: by_role(judge=lambda _: Hang()) for name in SERVED}
    await stage.slack.command("U1", channel, "/council", "panel:served Which queue, blind?")

    def offers() -> list[Message]:
        return [one for one in stage.bot_messages(channel) if READ_AND_VOTE in text_of(one)]

    await stage.slack.until(offers, 30)
    return offers()[-1]


async def test_everybody_can_read_the_answers_and_vote_before_the_result(
    stage: Stage,
) -> None:
    channel = stage.add_channel()

    offer = await offered(stage, channel)
    await stage.slack.click(offer, "council:vote", "U2")
    view = await stage.wait_for_modal("U2", "is the best")

    assert offer.ephemeral_to is None
    assert stage.ephemerals("U1", channel) == []  # no receipt
    assert not any(name in text_of(view) for name in ("Up", "Down", "Left", "openai"))
    labels = best_labels(view)
    assert len(labels) == 3
    await stage.slack.click(view, "council:best#2", "U2")
    await stage.wait_for_modal("U2", f"your blind vote is for Response {labels[1]}")
    assert stage.home.sql(VERDICTS, channel) == [(0,)]
    assert stage.home.sql(VOTES, channel) == [("U2", labels[1], 1)]
    stage.models.script.clear()
