"""A suite put to a panel: what that may cost and how long it takes."""

from statistics import median

from bot.bakeoffs.house import House
from council.bakeoffs.costs import run_estimate
from council.bakeoffs.models import Bakeoff, Expected
from council.ports import Wanted

FEWEST_ROUNDS, MOST_ROUNDS = 3, 20


async def expected(house: House, bakeoff: Bakeoff) -> Expected:
    """Give what all of a bake-off's questions come to."""
    cost = await run_estimate(bakeoff.suite, bakeoff.panel, house.gateway)
    return Expected(cost.micro, cost.unknown, await _seconds(house, bakeoff))


async def _seconds(house: House, bakeoff: Bakeoff) -> float | None:
    """Give how long it takes when its rounds take as long as the panel's last; None for too few."""
    wanted = Wanted(panel=bakeoff.panel.name, succeeded=True)
    lines = await house.store.recent(MOST_ROUNDS, wanted)
    seconds = [line.seconds for line in lines if line.seconds is not None]
    if len(seconds) < FEWEST_ROUNDS:
        return None
    at_once = min(len(bakeoff.suite.questions), house.bakeoff_rounds)
    return median(seconds) * len(bakeoff.suite.questions) / at_once
