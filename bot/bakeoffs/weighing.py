"""A leaderboard with weighed judges, and judges beside people: shown with the official one."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.bakeoffs.choosing import chosen
from bot.bakeoffs.keeping import Parts, votes_up_to_date
from bot.bakeoffs.sought import Sought
from bot.bakeoffs.uncollected import uncollected
from bot.render.leaderboard_tables import Leaderboard
from council.bakeoffs.records import Packed
from council.research.judge_weights import FEWEST_VOTES, Choice, WithPeople, with_people
from council.research.weighted_leaderboard import WeightedBoard, evidence_of, weighted_board


@dataclass(frozen=True, slots=True)
class _Beside:
    weighted: WeightedBoard | None
    people: dict[str, WithPeople]


async def weighed(parts: Parts, sought: Sought, shown: Leaderboard) -> Leaderboard:
    """Give the leaderboard with what stands beside it, where anything does.

    That is the board by weights that are sought, and from twenty votes on how far judges agree
    with people. The official standings stay as they are.
    """
    cast = await parts.store.votes()
    choices = [Choice(vote.round_id, vote.member) for vote in cast]
    too_few = len(choices) < FEWEST_VOTES or not shown.judges.rows
    if not sought.weights and too_few:
        return shown
    await votes_up_to_date(parts)
    with uncollected():
        rows = await parts.bench.votes.recent(sought.wanted)
        beside = await asyncio.to_thread(_beside, rows, sought, choices)
    return replace(shown, weighted=beside.weighted, people=beside.people)


def _beside(rows: Sequence[Packed], sought: Sought, choices: Sequence[Choice]) -> _Beside:
    kept, _ = chosen(rows, sought)
    evidence = evidence_of(kept, choices)
    weighted = weighted_board(sought.weights, evidence) if sought.weights else None
    return _Beside(weighted, dict(with_people(evidence.rounds, choices)))
