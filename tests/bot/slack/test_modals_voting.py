"""A vote in Slack while the judges vote: offered to the asker alone, cast in a modal, blind."""

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
    return await stage.wait_for_ephemeral("U1", channel, READ_AND_VOTE)


async def test_the_asker_alone_is_offered_the_answers_and_votes_before_the_result(
    stage: Stage,
) -> None:
    channel = stage.add_channel()

    offer = await offered(stage, channel)
    await stage.slack.click(offer, "council:vote", "U1")
    view = await stage.wait_for_modal("U1", "is the best")

    assert offer.ephemeral_to == "U1"
    assert not [m for m in stage.ephemerals("U2", channel) if READ_AND_VOTE in text_of(m)]
    assert not any(name in text_of(view) for name in ("Up", "Down", "Left", "openai"))
    labels = best_labels(view)
    assert len(labels) == 3
    await stage.slack.click(view, "council:best#2", "U1")
    await stage.wait_for_modal("U1", f"your blind vote is for Response {labels[1]}")
    assert stage.home.sql(VERDICTS, channel) == [(0,)]
    assert stage.home.sql(VOTES, channel) == [("U1", labels[1], 1)]
    assert len([m for m in stage.ephemerals("U1", channel) if READ_AND_VOTE in text_of(m)]) == 1
    stage.models.script.clear()
