"""Who may read which bake-offs, and whose they are: as rounds are, by where they report."""

from bot.access.policy import Access
from bot.access.reading import NotYoursError, readable
from bot.chat import Asker, Said
from council.bakeoffs.models import Bakeoff
from council.bakeoffs.ports import WantedBakeoffs
from council.ports import RoundLine
from council.rounds import Stage


def listed_bakeoffs(said: Said) -> WantedBakeoffs:
    """Give which bake-offs to look through for somebody; each is to be checked."""
    return WantedBakeoffs(scope=None if said.place.chat == "terminal" else said.place.scope)


def reads_bakeoff(said: Said, bakeoff: Bakeoff) -> bool:
    """Say whether somebody may read a bake-off's rounds where they are."""
    line = RoundLine(bakeoff.id, "", bakeoff.at, Stage.OPEN, bakeoff.asked_by, bakeoff.place)
    return readable(said).admits(line)


def check_own_bakeoff(access: Access, bakeoff: Bakeoff, asker: Asker, what: str) -> None:
    """Raise NotYoursError unless this is the one who began it, an admin, or the operator."""
    if asker.id in {bakeoff.asked_by, "terminal"} or access.is_admin(asker):
        return
    whose = "the one who began it, or an admin," if access.admins else "the one who began it"
    raise NotYoursError(f"Only {whose} can {what}.")
