"""The command that forgets: what was said in a round goes, how it was judged stays."""

from datetime import datetime

from bot.access import check_own
from bot.chat import Chat, Note, Post, Said
from bot.commands.desk import Desk
from bot.commands.meant import meant
from bot.render.formatting import counted
from council.errors import CouncilError, StoreError
from council.integrity.erasure import texts_of
from council.ports import Store
from council.rounds import Round
from storage.hash_chain import new_salt


class UnderWayError(CouncilError):
    """A round that is not at its end cannot be forgotten."""


async def forget(desk: Desk, chat: Chat, said: Said, wanted: str) -> None:
    """Forget a round for the one who asked, or an admin; one under way has to be stopped first."""
    round_ = await meant(desk, said, wanted)
    check_own(desk.access, round_, said.asker, "have a round forgotten")
    if await desk.runner.is_carried(round_.id):
        raise UnderWayError(f"Round {round_.id} is under way: stop it first, then forget it.")
    line = await forgotten(desk.store, round_, desk.now())
    await chat.whisper(said, Post((Note(line),), line))


async def forgotten(store: Store, round_: Round, moment: datetime) -> str:
    """Forget a round, leave nothing of it in the files, and say what was done."""
    is_new = await store.forget(round_.id, moment, new_salt())
    try:
        await store.wipe()
    except StoreError as error:
        raise StoreError(f"Round {round_.id} is forgotten, but not yet wiped: {error}") from error
    if not is_new:
        return f"Round {round_.id} was forgotten before; nothing is left to forget."
    texts = counted(len(texts_of(round_)), "text")
    return (
        f"Round {round_.id} is forgotten: {texts} removed; who sat, rankings, standings, cost and "
        "a digest of each text are kept."
    )
