"""What people think of a round, said with a button."""

from dataclasses import dataclass

from bot.chat.incoming import cleaned
from bot.commands.desk import Desk
from council.errors import CouncilError
from council.feedback import Feedback
from council.rounds import Round

MOST_CHARACTERS = 1_000


class FeedbackError(CouncilError):
    """What cannot be said of a round."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """Whether a round helped, and why; the reason may be empty."""

    helpful: bool
    reason: str = ""


async def rate(desk: Desk, round_: Round, by: str, opinion: Opinion) -> None:
    """Keep what somebody thinks of a closed round, in place of what they thought before."""
    reason = cleaned(opinion.reason)
    if not round_.closing:
        raise FeedbackError(f"Round {round_.id} is not closed yet: wait for its answer.")
    if len(reason) > MOST_CHARACTERS:
        raise FeedbackError(
            f"The reason has {len(reason):,} characters and at most {MOST_CHARACTERS:,} are kept: "
            "shorten it."
        )
    await desk.store.rate(Feedback(round_.id, by, opinion.helpful, reason, desk.now()))


async def own_feedback(desk: Desk, round_id: str, by: str) -> Feedback | None:
    """Give what somebody has said of a round; None where they said nothing."""
    said = await desk.store.ratings(round_id)
    return next((feedback for feedback in said if feedback.by == by), None)
