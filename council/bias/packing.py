"""Votes packed for storage, and very many of them as arrays.

A row has bytes first (ranks and places of each ballot, the audit, spoiled counts, answers), then
numbers in single precision (lengths, what the audit cost). A change is a new `votes.VERSION`.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from council.bakeoffs.packed import Packed
from council.bias.blocks import KINDS, NOBODY, Block, Bytes
from council.bias.traits import STYLE
from council.bias.votes import VERSION, Vote, Votes

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


def packed(votes: Votes, record: Packed) -> Packed:
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


def blocks(rows: Iterable[Packed]) -> tuple[Block, ...]:
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
