"""The votes of very many rounds of the same seats, as arrays; a row is a round."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from council.bakeoffs.record_arrays import PRECISION, Floats, Singles, Truths
from council.bakeoffs.records import PackedRecord
from council.bias.votes import STYLE, VERSION, Vote, Votes

# --- The votes of very many rounds of the same seats, as arrays; a row is a round.

Bytes = NDArray[np.uint8]

# Kinds of audits by their number; 0 is none. A spoiled one is of no kind that is known.
KINDS = ("", "order", "own", "named", "spoiled", "other")
NOBODY = 255  # where a judge, a count or a flag is not there


def shares_of(doubled: Bytes) -> Floats:
    """Give Borda shares from doubled ranks along the last axis, 0 for what was not shown.

    What was not shown is NaN, and so is all of a ballot over fewer than two answers.
    """
    shown = doubled > 0
    count = shown.sum(axis=-1, keepdims=True).astype(float)
    rivals = np.where(count > 1, count - 1, np.nan)
    return np.where(shown, (count - doubled / 2) / rivals, np.nan)


@dataclass(frozen=True)
class Block:
    """Rounds of the same seats. The axes after the first are judges, then members as authors.

    `doubled` are ranks times two and `slots` places from 1, both 0 for what a judge was not
    shown; `spoiled`, `first` and `audited_by` are NOBODY for who was not there. `style` counts
    what `traits` names, `lengths` are tokens, NaN without an answer, and `usd` is what the audit
    cost, NaN where nobody knows.
    """

    judges: tuple[str, ...]
    makers: tuple[str, ...]
    doubled: Bytes
    slots: Bytes
    audit: Bytes
    audited_by: Bytes
    audit_doubled: Bytes
    spoiled: Bytes
    first: Bytes
    style: Bytes
    lengths: Singles
    usd: Singles

    @property
    def members(self) -> int:
        """How many of the judges, from the first on, write answers too."""
        return int(self.doubled.shape[2])

    @cached_property
    def shares(self) -> Floats:
        """The Borda share each judge gave each author, by round."""
        return shares_of(self.doubled)

    @property
    def ballots(self) -> Truths:
        """Which judges cast a ballot that says anything, by round."""
        found: Truths = np.any(~np.isnan(self.shares), axis=2)
        return found

    @property
    def voted(self) -> "Block":
        """The rounds in which anybody cast such a ballot."""
        kept = self.ballots.any(axis=1)
        if kept.all():
            return self
        own = ((field.name, getattr(self, field.name)) for field in fields(self))
        arrays = ((name, one) for name, one in own if isinstance(one, np.ndarray))
        change: dict[str, Any] = {name: one[kept] for name, one in arrays}
        return replace(self, **change)

    def audits(self, kind: str, judge: int) -> Truths:
        """Say which rounds carry an audit of this kind by this judge."""
        found: Truths = (self.audit == KINDS.index(kind)) & (self.audited_by == judge)
        return found

    def audit_shares(self, rounds: Truths) -> Floats:
        """Give the Borda shares of the audit ballots of these rounds."""
        return shares_of(self.audit_doubled[rounds])


# --- Means over what is known, and who beats whom, over many rounds at once; unknown is NaN.


def known_mean(values: Floats, axis: int | tuple[int, ...]) -> Floats:
    """Give the mean of what is known along axes, NaN where nothing is."""
    known = ~np.isnan(values)
    count = known.sum(axis=axis)
    total = np.where(known, values, 0.0).sum(axis=axis)
    found: Floats = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return found


def sides(one: Floats, other: Floats) -> Floats:
    """Give 1 where the first is greater, −1 where the other is, 0 where they tie."""
    difference = one - other
    found: Floats = np.where(np.abs(difference) < PRECISION, 0.0, np.sign(difference))
    return found


def lead(one: Floats, other: Floats, author: int, rivals: Sequence[int]) -> Floats:
    """Give the share of rivals an author beats by `one` less what it beats by `other`.

    Both are Borda shares with authors on the last axis. Only rivals count that both judged beside
    the author: with slates that differ, whole shares would not compare.
    """
    by_one = sides(one[..., [author]], one[..., rivals])
    by_other = sides(other[..., [author]], other[..., rivals])
    return known_mean((by_one - by_other) / 2, -1)


def by_judge(
    blocks: Iterable[Block], values_of: Callable[[Block, int], Floats]
) -> dict[str, Floats]:
    """Gather, for each judge of any block, the values it has in all of them; unknown ones go."""
    found: dict[str, list[Floats]] = {}
    for block in blocks:
        for i, judge in enumerate(block.judges):
            found.setdefault(judge, []).append(values_of(block, i))
    return {judge: _known(np.concatenate(parts)) for judge, parts in found.items()}


def _known(values: Floats) -> Floats:
    unknown: Truths = np.isnan(values)
    return values[~unknown]


NOTHING: Floats = np.empty(0)


# --- Votes packed for storage, and very many of them as arrays.

MOST = 10_000  # rounds in a block, so that what is computed from one stays small
_SINGLE = np.dtype("<f4")
_AUTHORED = 1 + len(STYLE)


class _Shape(NamedTuple):
    judges: tuple[str, ...]
    makers: tuple[str, ...]
    members: int

    @property
    def parts(self) -> tuple[int, ...]:
        """How many bytes each part takes: ranks, places, audit, spoiled counts, answers."""
        voters, authors = len(self.judges), self.members
        return (voters * authors, voters * authors, 2 + authors, voters, authors * _AUTHORED)


def packed(votes: Votes, record: PackedRecord) -> PackedRecord:
    """Give the votes of a round as they are stored; its record says which round it is."""
    shape = _Shape(votes.judges, votes.makers, votes.members)
    numbers = np.array([*_lengths(votes), _usd(votes)], dtype=_SINGLE).tobytes()
    return record._replace(
        shape=json.dumps(shape, ensure_ascii=False, separators=(",", ":")),
        numbers=b"".join(part.tobytes() for part in _bytes_of(votes, shape)) + numbers,
        version=VERSION,
    )


def _bytes_of(votes: Votes, shape: _Shape) -> Iterator[Bytes]:
    doubled = np.zeros((len(shape.judges), shape.members), dtype=np.uint8)
    slots = doubled.copy()
    for vote in votes.ballots:
        row = shape.judges.index(vote.judge)
        doubled[row], slots[row] = _rows(vote, shape)
    spoiled = dict(votes.spoiled)
    yield from (doubled, slots, _audit(votes, shape))
    yield _row(min(spoiled[j], NOBODY - 1) if j in spoiled else NOBODY for j in shape.judges)
    yield _authored(votes, shape)


def _row(values: Iterable[int]) -> Bytes:
    return np.array([*values], dtype=np.uint8)


def _rows(vote: Vote, shape: _Shape) -> tuple[Bytes, Bytes]:
    """Give doubled ranks and places by author."""
    doubled, slots = np.zeros((2, shape.members), dtype=np.uint8)
    for slot, (author, rank) in enumerate(zip(vote.shown, vote.ranks, strict=True), start=1):
        at = shape.judges.index(author)
        doubled[at], slots[at] = round(2 * rank), slot
    return doubled, slots


def _audit(votes: Votes, shape: _Shape) -> Bytes:
    audit = votes.audit
    if audit is None:
        return _row([0, NOBODY, *[0] * shape.members])
    kind = audit.kind if audit.kind in KINDS[1:4] else "other"
    number = KINDS.index(kind if audit.vote else "spoiled")
    ranked = _rows(audit.vote, shape)[0] if audit.vote else [0] * shape.members
    return _row([number, shape.judges.index(audit.judge), *ranked])


def _authored(votes: Votes, shape: _Shape) -> Bytes:
    found = np.full((shape.members, _AUTHORED), NOBODY, dtype=np.uint8)
    for written in votes.written:
        style = [min(count, NOBODY - 1) for count in written.style]
        found[shape.judges.index(written.author)] = [written.is_first, *style]
    return found


def _lengths(votes: Votes) -> list[float]:
    lengths = {written.author: float(written.length) for written in votes.written}
    return [lengths.get(judge, np.nan) for judge in votes.judges[: votes.members]]


def _usd(votes: Votes) -> float:
    usd = votes.audit.cost_usd if votes.audit else None
    return np.nan if usd is None else usd


def blocks(rows: Iterable[PackedRecord]) -> tuple[Block, ...]:
    """Give the votes of many rounds as arrays, a block for the rounds of the same seats.

    Votes of another version than today's are left out: they are being made anew.
    """
    alike: dict[str, list[bytes]] = {}
    for row in rows:
        if row.version == VERSION:
            alike.setdefault(row.shape, []).append(row.numbers)
    return tuple(
        _block(_shape(shape), numbers[at : at + MOST])
        for shape, numbers in alike.items()
        for at in range(0, len(numbers), MOST)
    )


@cache
def _shape(text: str) -> _Shape:
    judges, makers, members = json.loads(text)
    return _Shape(tuple(judges), tuple(makers), members)


def _block(shape: _Shape, numbers: Sequence[bytes]) -> Block:
    rounds, voters, authors = len(numbers), len(shape.judges), shape.members
    flat = np.frombuffer(b"".join(numbers), dtype=np.uint8).reshape(rounds, -1)
    ends = np.cumsum(shape.parts)
    doubled, slots, audit, spoiled, authored, singles = np.split(flat, ends, axis=1)
    written = authored.reshape(rounds, authors, _AUTHORED)
    floats = np.ascontiguousarray(singles).view(_SINGLE)
    return Block(
        judges=shape.judges,
        makers=shape.makers,
        doubled=doubled.reshape(rounds, voters, authors),
        slots=slots.reshape(rounds, voters, authors),
        audit=audit[:, 0],
        audited_by=audit[:, 1],
        audit_doubled=audit[:, 2:],
        spoiled=spoiled,
        first=written[:, :, 0],
        style=written[:, :, 1:],
        lengths=floats[:, :authors],
        usd=floats[:, authors],
    )
