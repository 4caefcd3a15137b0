"""A leaderboard by weighed judges, beside the uniform one: what changed, and what did not."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from council.bakeoffs.intervals import Interval, share_interval
from council.bakeoffs.record_arrays import PRECISION, Floats
from council.bakeoffs.records import PackedRecord
from council.bias.judge_bias import consistency
from council.bias.vote_arrays import MOST, Block, blocks
from council.bias.votes import VERSION
from council.research.judge_weights import (
    CONSISTENCY,
    FAMILY,
    HUMAN,
    PEERRANK,
    UNIFORM,
    Choice,
    Given,
    JudgeWeights,
    Repeats,
    consistency_weights,
    equal,
    family_voices,
    family_weights,
    human_weights,
    peer_weights,
    weighted_shares,
)

# --- A leaderboard by weighed judges, beside the uniform one: what changed, and what did not.


@dataclass(frozen=True, slots=True)
class Evidence:
    """What weights can rest on: ballots, audit repeats by judge, and what people chose."""

    rounds: tuple[Given, ...]
    repeats: Mapping[str, Repeats]
    choices: tuple[Choice, ...]

    @property
    def judges(self) -> tuple[str, ...]:
        """Every judge of any round, by key."""
        return tuple(sorted({judge for given in self.rounds for judge in given.judges}))


@dataclass(frozen=True, slots=True)
class WeightedLine:
    """A member's mean share by weighed judges, and by equal ones over the same `rounds`.

    Ranks count from 1, by mean share alone; equal shares have the same.
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
        """By how much the share is more than with equal weights."""
        return self.share - self.uniform


@dataclass(frozen=True, slots=True)
class WeightedBoard:
    """Members by weighed judges, best first; none where the weights cannot be used yet."""

    weighing: JudgeWeights
    rows: tuple[WeightedLine, ...]
    rounds: int

    @property
    def moved(self) -> tuple[WeightedLine, ...]:
        """The members whose rank is another than with equal weights."""
        return tuple(line for line in self.rows if line.rank != line.uniform_rank)


def weighted_board(name: str, evidence: Evidence) -> WeightedBoard:
    """Give the board by weights of a name; it changes nothing of the official one.

    `uniform` is the official count again. Other names than NAMES have no meaning: ValueError.
    """
    weighing = _weighing(name, evidence)
    rounds = sum(len(given.rounds) for given in evidence.rounds)
    if not weighing.is_usable or not weighing.judges:
        return WeightedBoard(weighing, (), rounds)
    weighed = _by_member(evidence, weighing)
    official = _by_member(evidence, equal(UNIFORM, evidence.judges))
    lines = [_line(member, weighed[member], official[member]) for member in weighed]
    return WeightedBoard(weighing, _ranked(lines), rounds)


def _weighing(name: str, evidence: Evidence) -> JudgeWeights:
    if name == CONSISTENCY:
        repeats = {judge: evidence.repeats.get(judge, Repeats(0, 0.0)) for judge in evidence.judges}
        return consistency_weights(repeats)
    if name == HUMAN:
        return human_weights(evidence.rounds, evidence.choices, evidence.judges)
    if name == FAMILY:
        return family_weights(evidence.rounds)
    if name == PEERRANK:
        return peer_weights(evidence.rounds)
    if name != UNIFORM:
        raise ValueError(name)
    return equal(UNIFORM, evidence.judges)


def _by_member(evidence: Evidence, weighing: JudgeWeights) -> dict[str, Floats]:
    """Give each member's share in every round that ranked it."""
    found: dict[str, list[Floats]] = {}
    for given in evidence.rounds:
        shares = weighted_shares(given, _voices(given, weighing))
        for member, column in zip(given.members, shares.T, strict=True):
            found.setdefault(member, []).append(column[~np.isnan(column)])
    joined = {member: np.concatenate(parts) for member, parts in found.items()}
    return {member: values for member, values in joined.items() if len(values)}


def _voices(given: Given, weighing: JudgeWeights) -> Floats:
    # A maker's seats are counted round by round: not all of them vote in each.
    if weighing.name == FAMILY:
        return family_voices(given)
    return given.of_judges(weighing.weights)


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


def _ranked(lines: Sequence[WeightedLine]) -> tuple[WeightedLine, ...]:
    ordered = sorted(lines, key=lambda line: (-line.share, line.member))
    return tuple(
        replace(
            line,
            rank=1 + sum(other.share > line.share + PRECISION for other in lines),
            uniform_rank=1 + sum(other.uniform > line.uniform + PRECISION for other in lines),
        )
        for line in ordered
    )


# --- From stored votes to what weights rest on.


def evidence_of(rows: Sequence[PackedRecord], choices: Sequence[Choice]) -> Evidence:
    """Give what the votes of many rounds, and what people chose, allow to weigh judges by.

    Votes of another version than today's are left out: they are being made anew.
    """
    held = [*_alike(rows)]
    found = tuple(_given(part, block) for part, block in held)
    kept = consistency([block for _, block in held])
    repeats = {judge: Repeats(one.n, one.value or 0.0) for judge, one in kept.items()}
    return Evidence(found, repeats, tuple(choices))


def _alike(rows: Sequence[PackedRecord]) -> Iterator[tuple[Sequence[PackedRecord], Block]]:
    """Give rounds of the same seats together, in the order they come."""
    shapes: dict[str, list[PackedRecord]] = {}
    for row in rows:
        if row.version == VERSION:
            shapes.setdefault(row.shape, []).append(row)
    for same in shapes.values():
        for at in range(0, len(same), MOST):
            part = same[at : at + MOST]
            (block,) = blocks(part)
            yield part, block


def _given(rows: Sequence[PackedRecord], block: Block) -> Given:
    return Given(
        rounds=tuple(row.round_id for row in rows),
        judges=block.judges,
        makers=block.makers,
        members=block.judges[: block.members],
        shares=block.shares,
    )
