"""The command that cancels: nothing more is spent on a round, what there is stays."""

from dataclasses import replace

from bot.access import check_own, listable
from bot.chat import Chat, Note, Post, Said
from bot.commands.desk import Desk
from bot.commands.meant import LAST, meant
from bot.render.formatting import counted
from bot.render.round_report import forgotten_line
from council.errors import RoundNotFoundError
from council.rounds import Round


async def cancel(desk: Desk, chat: Chat, said: Said, wanted: str) -> None:
    """Cancel a round for the one who asked, or an admin; `last` is one's own newest unfinished."""
    round_ = await to_cancel(desk, said, wanted)
    line = over(round_) or await _cancelled(desk, round_)
    await chat.whisper(said, Post((Note(line),), line))


async def to_cancel(desk: Desk, said: Said, wanted: str) -> Round:
    """Give the round that is meant; NotYoursError for one that somebody else has to cancel."""
    round_ = await _meant(desk, said, wanted)
    check_own(desk.access, round_, said.asker, "cancel a round")
    return round_


async def _meant(desk: Desk, said: Said, wanted: str) -> Round:
    if wanted.lower() != LAST:
        return await meant(desk, said, wanted)
    own = replace(listable(said), asked_by=said.asker.id, unfinished=True)
    newest = await desk.store.recent(1, own)
    if not newest:
        raise RoundNotFoundError("No round of yours is under way here.")
    return await desk.store.load(newest[0].id)


def over(round_: Round) -> str:
    """Say why there is nothing to cancel; nothing where there is."""
    if round_.forgotten:
        return forgotten_line(round_.forgotten)
    if round_.closing:
        return f"Round {round_.id} is closed already: `/council show {round_.id}` opens it."
    return ""


async def _cancelled(desk: Desk, round_: Round) -> str:
    """Cancel a round that is not over, and say what is kept of it."""
    was_cancelled = (await desk.store.line(round_.id)).paused
    # First, so that it is not gone on with should this process end now.
    await desk.store.pause(round_.id, paused=True)
    await desk.runner.stop(round_.id)
    now = await desk.store.load(round_.id)
    if why := over(now):  # it came to its end meanwhile
        await desk.store.pause(round_.id, paused=False)
        return why
    if was_cancelled:
        return f"Round {round_.id} was cancelled before: {kept(now)}."
    return (
        f"Round {round_.id} is cancelled: {kept(now)}. Nobody is asked any more, and nothing spent."
    )


def kept(round_: Round) -> str:
    """Say what there is of a round, which stays: "2 of 3 answers are kept"."""
    members = counted(len(round_.panel.members), "answer")
    are = "is" if len(round_.answers) == 1 else "are"
    return f"{len(round_.answers)} of {members} {are} kept"
