"""Which bake-off somebody means, among those they may read, and which suite."""

from bot.access import listed_bakeoffs, reads_bakeoff
from bot.chat import Said
from bot.commands.bakeoff_words import LAST
from bot.commands.desk import Desk
from council.bakeoffs.models import Bakeoff, Suite
from council.errors import BakeoffError, SuiteError
from council.places import Place

_PREFIX = "bo:"  # of the ids of those that somebody began; it may be left out


async def readable_bakeoffs(desk: Desk, said: Said) -> tuple[Bakeoff, ...]:
    """Give the bake-offs that somebody may read, newest first."""
    found = await desk.bench.bakeoffs.recent(wanted=listed_bakeoffs(said))
    return tuple(bakeoff for bakeoff in found if reads_bakeoff(said, bakeoff))


async def meant_bakeoff(desk: Desk, said: Said, wanted: str) -> Bakeoff:
    """Give the bake-off whose id starts so, or the newest; BakeoffError where there is none."""
    there = await readable_bakeoffs(desk, said)
    if wanted.lower() == LAST:
        if not there:
            raise BakeoffError(
                "No bake-off has been held here yet: `/council bakeoff SUITE` holds one."
            )
        return there[0]
    starts = (wanted, f"{_PREFIX}{wanted}")
    found = [bakeoff for bakeoff in there if bakeoff.id.startswith(starts)]
    exact = [bakeoff for bakeoff in found if bakeoff.id in starts] or found
    if len(exact) != 1:
        if exact:
            raise BakeoffError(f"Several bake-offs begin with {wanted!r}: give more of the id.")
        raise BakeoffError(
            f"There is no bake-off {wanted!r} here: `/council bakeoff list` lists those there are."
        )
    return exact[0]


async def meant_suite(desk: Desk, place: Place, name: str) -> Suite:
    """Give a suite by name; SuiteError, which names those there are, where there is none."""
    try:
        return await desk.bench.suites.load(place.scope, name.lower())
    except SuiteError:
        lines = await desk.bench.suites.lines(place.scope)
        known = ", ".join(line.name for line in lines)
        raise SuiteError(
            f"There is no suite {name!r}; those there are: {known}."
            if known
            else f"There is no suite {name!r}, and no other: `/council suite add` makes one."
        ) from None
