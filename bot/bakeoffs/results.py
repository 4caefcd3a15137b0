"""What a bake-off came to: how each member fared over its rounds."""

from collections import defaultdict

from bot.bakeoffs.house import House
from council.bakeoffs.progress import Progress
from bot.chat import Thread
from bot.render.bakeoffs import Share, result_thread
from council.bakeoffs.bakeoff import Bakeoff
from council.ports import Wanted
from council.rounds import Round


async def result_of(house: House, progress: Progress) -> Thread:
    """Give the result as it is posted."""
    return result_thread(progress, shares(await closed_rounds(house, progress.bakeoff)))


async def closed_rounds(house: House, bakeoff: Bakeoff) -> tuple[Round, ...]:
    """Give the rounds that are over, in the order of the suite."""
    lines = await house.store.recent(wanted=Wanted(bakeoff=bakeoff.id))
    there = {line.id for line in lines if line.seconds is not None}
    ids = map(bakeoff.round_id, range(1, len(bakeoff.suite.questions) + 1))
    return tuple([await house.store.load(id_) for id_ in ids if id_ in there])


def shares(rounds: tuple[Round, ...]) -> tuple[Share, ...]:
    """Give each member's mean share, best first."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for round_ in rounds:
        for member, share in shares_in(round_).items():
            found[member].append(share)
    mean = {member: sum(values) / len(values) for member, values in found.items()}
    best_first = sorted(mean, key=lambda member: (-mean[member], member))
    return tuple(Share(member, mean[member], len(found[member])) for member in best_first)


def shares_in(round_: Round) -> dict[str, float]:
    """Give each ranked member's share in one round."""
    if not round_.tally or not round_.draw:
        return {}
    author_of = round_.draw.labels.author_of
    return {
        author_of(line.label): line.share
        for line in round_.tally.standings
        if line.share is not None
    }
