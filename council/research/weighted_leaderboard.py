"""A leaderboard by weighted judges, compared with the uniform one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from council.bakeoffs.bias.vote_arrays import MAX_BLOCK_ROUNDS, Block, vote_blocks
from council.bakeoffs.bias.votes import FIRST_VERSION
from council.bakeoffs.intervals import Interval, share_interval
from council.bakeoffs.record_arrays import PRECISION, Floats
from council.bakeoffs.records import PackedRecord
from council.research.judge_weights import (
    FAMILY,
    HUMAN,
    INDEPENDENCE,
    PEERRANK,
    UNIFORM,
    Choice,
    RoundShares,
    family_voices,
    family_weights,
    human_weights,
    independence_weights,
    peer_weights,
    weighted_shares,
)
from council.tally.consistency import (
    CONSISTENCY,
    JudgeWeights,
    Repeats,
    consistency_weights,
    equal_weights,
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What weights are computed from: ballots, audit repeats by judge, and people's votes."""

    rounds: tuple[RoundShares, ...]
    repeats: Mapping[str, Repeats]
    choices: tuple[Choice, ...]

    @property
    def judges(self) -> tuple[str, ...]:
        """The keys of all judges of any round, sorted."""
        return tuple(sorted({judge for given in self.rounds for judge in given.judges}))


@dataclass(frozen=True, slots=True)
class WeightedLine:
    """A member's mean share by weighted judges, and by equal ones over the same `rounds`.

    Ranks count from 1, by mean share alone; equal shares have equal ranks.
    """

    member: str
    share: float
    ci: Interval
    uniform: float
    rank: int
    uniform_rank: int
    rounds: int

    @property
    def change(self) -> float:
        """The share minus the uniform share."""
        return self.share - self.uniform


@dataclass(frozen=True, slots=True)
class WeightedBoard:
    """Members by weighted judges, best first; no rows if the weights are not usable."""

    weights: JudgeWeights
    rows: tuple[WeightedLine, ...]
    rounds: int

    @property
    def moved(self) -> tuple[WeightedLine, ...]:
        """The members whose rank differs from the uniform one."""
        return tuple(line for line in self.rows if line.rank != line.uniform_rank)


def build_weighted_board(name: str, evidence: Evidence) -> WeightedBoard:
    """Return the board by the weights of this name; the official board is not affected.

    `uniform` is the official count again. Raise ValueError for a name that is not in NAMES.
    """
    weights = _judge_weights(name, evidence)
    rounds = sum(len(given.rounds) for given in evidence.rounds)
    if not weights.is_usable or not weights.judges:
        return WeightedBoard(weights, (), rounds)
    weighted_shares_by_member = _shares_by_member(evidence, weights)
    uniform_shares_by_member = _shares_by_member(evidence, equal_weights(UNIFORM, evidence.judges))
    lines = [
        _line(member, weighted_shares_by_member[member], uniform_shares_by_member[member])
        for member in weighted_shares_by_member
    ]
    return WeightedBoard(weights, _rank_lines(lines), rounds)


def _judge_weights(name: str, evidence: Evidence) -> JudgeWeights:
    if name == CONSISTENCY:
        repeats = {judge: evidence.repeats.get(judge, Repeats(0, 0.0)) for judge in evidence.judges}
        return consistency_weights(repeats)
    if name == HUMAN:
        return human_weights(evidence.rounds, evidence.choices, evidence.judges)
    if name == FAMILY:
        return family_weights(evidence.rounds)
    if name == PEERRANK:
        return peer_weights(evidence.rounds)
    if name == INDEPENDENCE:
        return independence_weights(evidence.rounds, evidence.judges)
    if name != UNIFORM:
        raise ValueError(name)
    return equal_weights(UNIFORM, evidence.judges)


def _shares_by_member(evidence: Evidence, weights: JudgeWeights) -> dict[str, Floats]:
    """Return each member's share in every round that ranked it."""
    parts_by_member: dict[str, list[Floats]] = {}
    for given in evidence.rounds:
        shares = weighted_shares(given, _round_weights(given, weights))
        for member, column in zip(given.members, shares.T, strict=True):
            parts_by_member.setdefault(member, []).append(column[~np.isnan(column)])
    joined = {member: np.concatenate(parts) for member, parts in parts_by_member.items()}
    return {member: values for member, values in joined.items() if len(values)}


def _round_weights(given: RoundShares, weights: JudgeWeights) -> Floats:
    # A maker's seats are counted by round, because not all of them vote in each.
    if weights.name == FAMILY:
        return family_voices(given)
    return given.weights_by_judge(weights.weights)


def _line(member: str, weighed: Floats, official: Floats) -> WeightedLine:
    return WeightedLine(
        member=member,
        share=float(weighed.mean()),
        ci=share_interval(weighed),
        uniform=float(official.mean()),
        rank=0,
        uniform_rank=0,
        rounds=len(weighed),
    )


def _rank_lines(lines: Sequence[WeightedLine]) -> tuple[WeightedLine, ...]:
    ordered = sorted(lines, key=lambda line: (-line.share, line.member))
    return tuple(
        replace(
            line,
            rank=1 + sum(other.share > line.share + PRECISION for other in lines),
            uniform_rank=1 + sum(other.uniform > line.uniform + PRECISION for other in lines),
        )
        for line in ordered
    )


def build_evidence(
    rows: Sequence[PackedRecord],
    choices: Sequence[Choice],
    repeats: Mapping[str, Repeats] = MappingProxyType({}),
) -> Evidence:
    """Return what votes of many rounds, people's votes, and repeats say about judges."""
    rounds = tuple(_round_shares(part, block) for part, block in _blocks_with_rows(rows))
    return Evidence(rounds, repeats, tuple(choices))


def _blocks_with_rows(
    rows: Sequence[PackedRecord],
) -> Iterator[tuple[Sequence[PackedRecord], Block]]:
    """Yield the rounds of each set of seats with their block, in the order of `rows`."""
    shapes: dict[str, list[PackedRecord]] = {}
    for row in rows:
        if row.version >= FIRST_VERSION:
            shapes.setdefault(row.shape, []).append(row)
    for same in shapes.values():
        for start in range(0, len(same), MAX_BLOCK_ROUNDS):
            part = same[start : start + MAX_BLOCK_ROUNDS]
            (block,) = vote_blocks(part)
            yield part, block


def _round_shares(rows: Sequence[PackedRecord], block: Block) -> RoundShares:
    return RoundShares(
        rounds=tuple(row.round_id for row in rows),
        judges=block.judges,
        makers=block.makers,
        members=block.judges[: block.members],
        shares=block.shares,
    )
