"""A suite put to a panel: what that may cost and how long it takes, and a new bake-off, kept."""

from statistics import median

from bot.bakeoffs.house import House
from bot.bakeoffs.questions import own_cap, round_of
from council.bakeoffs.bakeoff import Bakeoff
from council.bakeoffs.expected import Expected
from council.errors import QuestionError
from council.estimates import estimated
from council.ports import Wanted

FEWEST_ROUNDS, MOST_ROUNDS = 3, 20


async def expected(house: House, bakeoff: Bakeoff) -> Expected:
    """Give what all of a bake-off's questions come to."""
    micro, unknown, unfit = 0, dict[str, None](), []
    for number in range(1, len(bakeoff.suite.questions) + 1):
        try:
            round_ = round_of(house, bakeoff, number)
        except QuestionError:
            unfit.append(number)
            continue
        estimate = await estimated(round_, house.gateway)
        own = own_cap(round_)
        micro += estimate.micro if own is None else min(own, estimate.micro)
        unknown |= dict.fromkeys(estimate.unknown)
    return Expected(micro, tuple(unknown), await _seconds(house, bakeoff), tuple(unfit))


async def _seconds(house: House, bakeoff: Bakeoff) -> float | None:
    """Give how long it takes when its rounds take as long as the panel's last; None for too few."""
    wanted = Wanted(panel=bakeoff.panel.name, succeeded=True)
    lines = await house.store.recent(MOST_ROUNDS, wanted)
    seconds = [line.seconds for line in lines if line.seconds is not None]
    if len(seconds) < FEWEST_ROUNDS:
        return None
    at_once = min(len(bakeoff.suite.questions), house.bakeoff_rounds)
    return median(seconds) * len(bakeoff.suite.questions) / at_once


async def opened(house: House, bakeoff: Bakeoff) -> bool:
    """Keep a new bake-off; False where its id is kept already: it was begun before."""
    return await house.bench.bakeoffs.open(bakeoff)
