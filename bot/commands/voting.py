"""The command that votes: which answer of a round somebody calls the best, names in sight."""

from bot.chat import Chat, Note, Post, Said
from bot.commands.desk import Desk
from bot.commands.looking import meant_or_last
from bot.commands.rating import FeedbackError
from bot.render.formatting import authors_of, listed
from council.feedback import HumanVote
from council.rounds import Draw, Round

SEEN = "You have seen who wrote what, so this vote is not blind."


async def vote(desk: Desk, chat: Chat, said: Said, words: str) -> None:
    """Keep `ROUND LABEL`: the answer that somebody who may read a round calls its best."""
    wanted, *_, letter = words.split()
    round_ = await meant_or_last(desk, said, wanted)
    cast = await cast_vote(desk, round_, said.asker.id, letter)
    line = voted_line(round_, cast)
    await chat.whisper(said, Post((Note(line),), line))


async def cast_vote(desk: Desk, round_: Round, by: str, letter: str) -> HumanVote:
    """Keep somebody's vote on a closed round, in place of one they gave before.

    Raises FeedbackError where there is nothing to choose from, or no such answer.
    """
    draw = _draw_of(round_)
    label = next((one for one in draw.labels.labels if one == letter.upper()), None)
    if label is None:
        raise FeedbackError(
            f"Round {round_.id} has no Response {letter.upper()[:20]}: choose among "
            f"{listed(sorted(draw.labels.labels))}."
        )
    cast = HumanVote(round_.id, by, label, draw.labels.author_of(label), desk.now())
    await desk.store.vote(cast)
    return cast


def _draw_of(round_: Round) -> Draw:
    if round_.forgotten:
        raise FeedbackError(f"What was answered in round {round_.id} is forgotten.")
    if not round_.closing:
        raise FeedbackError(f"Round {round_.id} is not closed yet: wait for its answer.")
    if round_.draw is None or len(round_.draw.labels.labels) < 2:  # noqa: PLR2004
        raise FeedbackError(f"Round {round_.id} has no two answers to choose from.")
    return round_.draw


def voted_line(round_: Round, cast: HumanVote) -> str:
    """Say what was noted."""
    author = authors_of(round_.panel, _draw_of(round_))[cast.label]
    return f"Noted: Response {cast.label}, by {author}, is the best to you. {SEEN}"


async def own_vote(desk: Desk, round_id: str, by: str) -> HumanVote | None:
    """Give what somebody has voted on a round; None where they did not."""
    cast = await desk.store.votes(round_id)
    return next((one for one in cast if one.by == by), None)
