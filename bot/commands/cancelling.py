"""The command that cancels: nothing more is spent on a round, what there is stays."""

from dataclasses import replace

from bot.access import check_own, listable
from bot.chat import Chat, Note, Post, Said
from bot.commands.desk import Desk
from bot.commands.meant import LAST, meant
from bot.render.figures import counted
from bot.render.forgotten import forgotten_line
from council.errors import RoundNotFoundError
from council.rounds import Round


async def cancel(desk: Desk, chat: Chat, said: Said, wanted: str) -> None:
    """Cancel a round for the one who asked, or an admin; `last` is one's own newest unfinished."""
    round_ = await _meant(desk, said, wanted)
    check_own(desk.access, round_, said.asker, "cancel a round")
    line = _over(round_) or await _cancelled(desk, round_)
    await chat.whisper(said, Post((Note(line),), line))


async def _meant(desk: Desk, said: Said, wanted: str) -> Round:
    if wanted.lower() != LAST:
        return await meant(desk, said, wanted)
    own = replace(listable(said), asked_by=said.asker.id, unfinished=True)
    newest = await desk.store.recent(1, own)
    if not newest:
        raise RoundNotFoundError("No round of yours is under way here.")
    return await desk.store.load(newest[0].id)


def _over(round_: Round) -> str:
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
    if over := _over(now):  # it came to its end meanwhile
        await desk.store.pause(round_.id, paused=False)
        return over
    members = counted(len(now.panel.members), "answer")
    kept = f"{len(now.answers)} of {members} {'is' if len(now.answers) == 1 else 'are'} kept"
    if was_cancelled:
        return f"Round {round_.id} was cancelled before: {kept}."
    return f"Round {round_.id} is cancelled: {kept}. Nobody is asked any more, and nothing spent."
