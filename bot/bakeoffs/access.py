"""Access control of bake-offs: who may read one, and who may change it."""

from bot.access import Access, check_owner, readable_rounds
from bot.chat import Asker, IncomingMessage
from council.bakeoffs.models import Bakeoff
from council.bakeoffs.ports import BakeoffQuery


def listable_bakeoffs(message: IncomingMessage) -> BakeoffQuery:
    """Return a query for candidates that a person may read; check each with `can_read_bakeoff`."""
    return BakeoffQuery(scope=None if message.place.chat == "terminal" else message.place.scope)


def can_read_bakeoff(message: IncomingMessage, bakeoff: Bakeoff) -> bool:
    """Return whether the author of a message may read a bake-off's rounds."""
    return readable_rounds(message).covers(bakeoff.place, bakeoff.asked_by)


def check_own_bakeoff(access: Access, bakeoff: Bakeoff, asker: Asker, what: str) -> None:
    """Raise NotYoursError unless this is who began it, an admin, or the operator."""
    if asker.id != "terminal":
        started_by = bakeoff.asked_by
        check_owner(access.at(bakeoff.place), asker, started_by, "the person who started it", what)
