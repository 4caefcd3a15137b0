"""Pack votes for storage, and unpack those of many rounds into numpy arrays."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from council.bakeoffs.bias.votes import FIRST_VERSION, STYLE, VERSION, Vote, Votes
from council.bakeoffs.packed_tables import (
    BYTE,
    SINGLE,
    Layout,
    NamedNumbers,
    Table,
    UnpackedTables,
    name_numbers,
    pack_tables,
    parse_layout,
    unpack_tables,
)
from council.bakeoffs.record_arrays import PRECISION, Booleans, Floats, Singles
from council.bakeoffs.records import PackedRecord

Bytes = NDArray[np.uint8]

# Audit kinds by their stored number: add new ones at the end. 0 is no audit. The kind of a spoiled
# audit is unknown.
AUDIT_KINDS = ("", "order", "own", "named", "spoiled", "other")
ABSENT = 255  # marks a missing judge, count or flag


def shares_from_doubled_ranks(doubled: Bytes) -> Floats:
    """Return Borda shares by doubled rank; NaN if not shown (rank 0), or one of fewer than two."""
    shown = doubled > 0
    count = shown.sum(axis=-1, keepdims=True).astype(float)
    rivals = np.where(count > 1, count - 1, np.nan)
    return np.where(shown, (count - doubled / 2) / rivals, np.nan)


@dataclass(frozen=True)
class Block:
    """Rounds of the same seats, as arrays by round, then by judge, then by member as author.

    `doubled` are ranks times two, `slots` are places on the slate from 1; both are 0 for an answer
    that was not shown. `spoiled`, `first` and `audited_by` are ABSENT for a seat that took no part.
    `style` counts the elements of STYLE (ABSENT if unknown), `lengths` are tokens (NaN without an
    answer or its text), and `usd` is the cost of the audit (NaN if unknown). `checks` are of the
    kinds and seats in `checked`.
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
    checked: tuple[tuple[str, str], ...]
    checks: Bytes

    @property
    def members(self) -> int:
        """How many of the judges, counted from the first, also write answers."""
        return int(self.doubled.shape[2])

    @cached_property
    def shares(self) -> Floats:
        """The Borda share each judge gave each author, by round."""
        return shares_from_doubled_ranks(self.doubled)

    @property
    def ballots(self) -> Booleans:
        """Which judges cast a ballot that ranks anything, by round."""
        found: Booleans = np.any(~np.isnan(self.shares), axis=2)
        return found

    @property
    def voted(self) -> "Block":
        """The rounds in which at least one judge cast such a ballot."""
        kept = self.ballots.any(axis=1)
        if kept.all():
            return self
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        change: dict[str, Any] = {
            name: one[kept] for name, one in values if isinstance(one, np.ndarray)
        }
        return replace(self, **change)

    def audits(self, kind: str, judge: int) -> Booleans:
        """Return which rounds have an audit of this kind by this judge."""
        found: Booleans = (self.audit == AUDIT_KINDS.index(kind)) & (self.audited_by == judge)
        return found

    def audit_shares(self, rounds: Booleans) -> Floats:
        """Return the Borda shares of the audit ballots of these rounds."""
        return shares_from_doubled_ranks(self.audit_doubled[rounds])


# --- Functions of arrays; NaN is unknown


def known_mean(values: Floats, axis: int | tuple[int, ...]) -> Floats:
    """Return the mean of the known values along the axes, NaN if there are none."""
    known = ~np.isnan(values)
    count = known.sum(axis=axis)
    total = np.where(known, values, 0.0).sum(axis=axis)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def pair_signs(one: Floats, other: Floats) -> Floats:
    """Return 1 where the first is greater, −1 where the other is, and 0 for a tie."""
    difference = one - other
    return np.where(np.abs(difference) < PRECISION, 0.0, np.sign(difference))


def pairwise_lead(one: Floats, other: Floats, author: int, rivals: Sequence[int]) -> Floats:
    """Return the share of rivals an author beats on `one` minus the share it beats on `other`.

    Both are Borda shares with authors on the last axis. Only rivals ranked on both count: whole
    shares are not comparable between slates that differ.
    """
    by_one = pair_signs(one[..., [author]], one[..., rivals])
    by_other = pair_signs(other[..., [author]], other[..., rivals])
    return known_mean((by_one - by_other) / 2, -1)


def values_by_judge(
    blocks: Iterable[Block], values_of: Callable[[Block, int], Floats]
) -> dict[str, Floats]:
    """Return for each judge its known values over all blocks."""
    found: dict[str, list[Floats]] = {}
    for block in blocks:
        for i, judge in enumerate(block.judges):
            found.setdefault(judge, []).append(values_of(block, i))
    joined = {judge: np.concatenate(parts) for judge, parts in found.items()}
    return {judge: values[~np.isnan(values)] for judge, values in joined.items()}


NO_VALUES: Floats = np.empty(0)


# --- Packing

MAX_BLOCK_ROUNDS = 10_000  # limits the memory of computations on one block

_RANKS, _SLOTS = Table("jm", BYTE, ("doubled",)), Table("jm", BYTE, ("slots",))
_AUDIT, _AUDIT_RANKS = Table("", BYTE, ("kind", "judge")), Table("m", BYTE, ("audit_doubled",))
_SPOILED = Table("j", BYTE, ("spoiled",))
_FIRST, _STYLE = Table("m", BYTE, ("first",)), Table("m", BYTE, STYLE)
_WRITTEN = Table("m", BYTE, (*_FIRST.fields, *STYLE))
_CHECKS = Table("c", BYTE, ("found",))
_LENGTHS, _USD = Table("m", SINGLE, ("length",)), Table("", SINGLE, ("audit_usd",))
LAYOUT = (_RANKS, _SLOTS, _AUDIT, _AUDIT_RANKS, _SPOILED, _WRITTEN, _CHECKS, _LENGTHS, _USD)
# Of votes that were stored without the names of their numbers.
_UNNAMED_LAYOUT = tuple(
    Table("m", BYTE, ("first", "lists", "headings", "bold", "code")) if one == _WRITTEN else one
    for one in LAYOUT
)


class _Shape(NamedTuple):
    judges: tuple[str, ...]
    makers: tuple[str, ...]
    members: int
    checked: tuple[tuple[str, str], ...]
    layout: Layout

    def unpack(self, numbers: Sequence[bytes]) -> UnpackedTables:
        sizes = {"m": self.members, "j": len(self.judges), "c": len(self.checked)}
        return unpack_tables(self.layout, sizes, numbers)


def name_votes(row: PackedRecord) -> NamedNumbers:
    """Return every stored number of a round's votes; raise ValueError if it cannot be read."""
    shape = _parse_shape(row.shape)
    checks = [" ".join(check) for check in shape.checked]
    names = {"m": shape.judges, "j": shape.judges, "c": checks}
    makers = zip(shape.judges, shape.makers, strict=True)
    texts = {(f"judges[{judge}]", "maker"): maker for judge, maker in makers}
    return name_numbers(shape.unpack([row.numbers]), names) | texts


def pack_votes(votes: Votes, record: PackedRecord) -> PackedRecord:
    """Return the votes of a round as they are stored; `record` identifies the round."""
    judges, members, audit = votes.judges, votes.members, votes.audit
    doubled, slots = np.zeros((2, len(judges), members), dtype=np.uint8)
    for vote in votes.ballots:
        row = judges.index(vote.judge)
        doubled[row], slots[row] = _vote_rows(vote, votes)
    counts = dict(votes.spoiled)
    spoiled = [min(counts[judge], ABSENT - 1) if judge in counts else ABSENT for judge in judges]
    answers = np.full((members, 1 + len(STYLE)), ABSENT)
    lengths = np.full(members, np.nan)
    for written in votes.written:
        author = judges.index(written.author)
        answers[author, 0] = written.is_first
        if written.style is not None:
            answers[author, 1:] = np.minimum(written.style, ABSENT - 1)
        if written.length is not None:
            lengths[author] = written.length
    checks = [check.found for check in votes.checks]
    usd = [audit.cost_usd if audit else None]
    ranked = (doubled, slots, *_audit_tables(votes))
    shape = (judges, votes.makers, members, [check[:2] for check in votes.checks], LAYOUT)
    return record._replace(
        shape=json.dumps(shape, ensure_ascii=False, separators=(",", ":")),
        numbers=pack_tables(LAYOUT, (*ranked, spoiled, answers, checks, lengths, usd)),
        version=VERSION,
    )


def _vote_rows(vote: Vote, votes: Votes) -> tuple[Bytes, Bytes]:
    doubled, slots = np.zeros((2, votes.members), dtype=np.uint8)
    for slot, (author, rank) in enumerate(zip(vote.shown, vote.ranks, strict=True), start=1):
        author_index = votes.judges.index(author)
        doubled[author_index], slots[author_index] = round(2 * rank), slot
    return doubled, slots


def _audit_tables(votes: Votes) -> tuple[list[int], Bytes]:
    number, judge, ranked = 0, ABSENT, np.zeros(votes.members, dtype=np.uint8)
    if audit := votes.audit:
        kind = audit.kind if audit.kind in AUDIT_KINDS[1:4] else "other"
        number = AUDIT_KINDS.index(kind if audit.vote else "spoiled")
        judge = votes.judges.index(audit.judge)
        if audit.vote:
            ranked = _vote_rows(audit.vote, votes)[0]
    return [number, judge], ranked


def vote_blocks(rows: Iterable[PackedRecord]) -> tuple[Block, ...]:
    """Return votes as arrays, one block per set of seats; numbers not stored are unknown."""
    by_shape: dict[str, list[bytes]] = {}
    for row in rows:
        if row.version >= FIRST_VERSION:
            by_shape.setdefault(row.shape, []).append(row.numbers)
    return tuple(
        _unpack_block(_parse_shape(shape), numbers[at : at + MAX_BLOCK_ROUNDS])
        for shape, numbers in by_shape.items()
        for at in range(0, len(numbers), MAX_BLOCK_ROUNDS)
    )


@cache
def _parse_shape(text: str) -> _Shape:
    judges, makers, members, *more = json.loads(text)
    checked = tuple((kind, seat) for kind, seat in more[0]) if more else ()
    layout = parse_layout(more[1]) if len(more) > 1 else _UNNAMED_LAYOUT
    return _Shape(tuple(judges), tuple(makers), members, checked, layout)


def _unpack_block(shape: _Shape, numbers: Sequence[bytes]) -> Block:
    tables = shape.unpack(numbers)
    audit = tables.read(_AUDIT, 0)
    return Block(
        judges=shape.judges,
        makers=shape.makers,
        doubled=tables.read(_RANKS, 0)[..., 0],
        slots=tables.read(_SLOTS, 0)[..., 0],
        audit=audit[:, 0],
        audited_by=audit[:, 1],
        audit_doubled=tables.read(_AUDIT_RANKS, 0)[..., 0],
        spoiled=tables.read(_SPOILED, ABSENT)[..., 0],
        first=tables.read(_FIRST, ABSENT)[..., 0],
        style=tables.read(_STYLE, ABSENT),
        lengths=tables.read(_LENGTHS)[..., 0],
        usd=tables.read(_USD)[:, 0],
        checked=shape.checked,
        checks=tables.read(_CHECKS, 0)[..., 0],
    )
