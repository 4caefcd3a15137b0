"""Which round somebody means, among those they may read."""

from bot.access import check_readable, readable
from bot.chat import Said
from bot.commands.desk import Desk
from council.errors import RoundNotFoundError
from council.ports import EVERY
from council.rounds import Round

LAST = "last"


async def meant(desk: Desk, said: Said, wanted: str) -> Round:
    """Give the round whose id starts so; RoundNotFoundError unless it may be read here."""
    try:
        round_ = await desk.store.load(await desk.store.find(wanted))
        check_readable(round_, said)
    except RoundNotFoundError:
        if readable(said) == EVERY:
            raise
        # The start of an id must not tell of rounds of others, least of all the whole id.
        raise RoundNotFoundError(
            f"There is no round {wanted!r} here: `/council rounds` lists those there are."
        ) from None
    return round_
