"""Very many records as arrays: a row a round, in time order, a column a member or a judge."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import comb, isnan
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from council.bakeoffs.records import (
    AUTHORED,
    JUDGED,
    PAIRED,
    VERSION,
    WHOLE,
    AuthorRecord,
    CouncilRecord,
    JudgeRecord,
    Margin,
    PackedRecord,
    Record,
)

# --- Very many records as arrays: a row a round, in time order, a column a member or a judge.

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Truths = NDArray[np.bool_]
Indexes = NDArray[np.intp]

PRECISION = 1e-6  # of what is computed from numbers in single precision


@dataclass(frozen=True, slots=True)
class Block:
    """The rounds of one shape: where they stand among all, and their members' pairs.

    `pairs` has an entry for each of `combinations(members, 2)`, with the fields of PAIRED.
    """

    where: Indexes
    members: tuple[str, ...]
    pairs: Singles

    @property
    def won(self) -> Singles:
        """The share of judges who put the first of each pair above the second."""
        return self.pairs[:, :, PAIRED.index("won")]


@dataclass(frozen=True, slots=True)
class Columns:
    """The numbers of rounds, oldest first, over all members and judges that sat in any.

    `rows` says what each round was; the arrays are read by the names in `fields`.
    """

    rows: tuple[PackedRecord, ...]
    members: tuple[str, ...]
    judges: tuple[str, ...]
    authored: Singles
    judged: Singles
    whole: Singles
    blocks: tuple[Block, ...]

    def author(self, field: str) -> Floats:
        """Give a field of AUTHORED: a row a round, a column a member."""
        return self.authored[:, :, AUTHORED.index(field)].astype(float)

    def judge(self, field: str) -> Floats:
        """Give a field of JUDGED: a row a round, a column a judge."""
        return self.judged[:, :, JUDGED.index(field)].astype(float)

    def round(self, field: str) -> Floats:
        """Give a field of WHOLE, one number a round; `winner` counts in `members`, from 0."""
        return self.whole[:, WHOLE.index(field)].astype(float)

    def margin(self, first: str, second: str) -> Floats:
        """Give the first's margin over the second by the judges outside the pair, a round each."""
        return self._pair(first, second, "margin", lambda margins: -margins)

    def won(self, first: str, second: str) -> Floats:
        """Give the share of judges who put the first above the second, a round each."""
        return self._pair(first, second, "won", lambda shares: 1 - shares)

    def _pair(
        self, first: str, second: str, field: str, turned: Callable[[Singles], Singles]
    ) -> Floats:
        found = np.full(len(self.rows), np.nan)
        for block in self.blocks:
            if first in block.members and second in block.members:
                one, other = block.members.index(first), block.members.index(second)
                pairs = list(combinations(range(len(block.members)), 2))
                numbers = block.pairs[:, pairs.index((min(one, other), max(one, other)))]
                own = numbers[:, PAIRED.index(field)]
                found[block.where] = own if one < other else turned(own)
        return found

    def only(self, wanted: Truths) -> "Columns":
        """Give the rounds that are wanted, and the members and judges that sat in any of them."""
        if wanted.all():
            return self
        after = np.cumsum(wanted) - 1
        authored, judged = self.authored[wanted], self.judged[wanted]
        seated = np.array((~np.isnan(authored)).any(axis=(0, 2)))
        voted = np.array((~np.isnan(judged)).any(axis=(0, 2)))
        blocks = (
            Block(after[block.where[kept]], block.members, block.pairs[kept])
            for block, kept in ((block, wanted[block.where]) for block in self.blocks)
            if kept.any()
        )
        return Columns(
            rows=tuple(row for row, kept in zip(self.rows, wanted, strict=True) if kept),
            members=tuple(m for m, kept in zip(self.members, seated.tolist(), strict=True) if kept),
            judges=tuple(j for j, kept in zip(self.judges, voted.tolist(), strict=True) if kept),
            authored=authored[:, seated],
            judged=judged[:, voted],
            whole=_with_winners(self.whole[wanted], np.cumsum(seated) - 1),
            blocks=tuple(blocks),
        )


def _with_winners(whole: Singles, after: Indexes) -> Singles:
    """Give rounds whose winners are counted among the members that are left."""
    won = ~np.isnan(whole[:, 0])
    found = whole.copy()
    found[won, 0] = after[whole[won, 0].astype(int)]
    return found


# --- Records packed for storage, and many of them unpacked at once.

_SINGLE = np.dtype("<f4")
_COUNTS = {"place", "words", "tokens_out", "first_votes", "ballots", "judges"}
_COUNTS |= {"spoiled", "kept", "pairs"}
_TRUTHS = {"correct", "refused", "absent", "valid", "council_correct", "named_itself"}


def packed(record: Record) -> PackedRecord:
    """Give a record as it is stored, its numbers in single precision."""
    members = [authored.member for authored in record.authored]
    judges = [judged.judge for judged in record.judged]
    met = {(margin.first, margin.second): margin for margin in record.margins}
    numbers = [getattr(authored, name) for authored in record.authored for name in AUTHORED]
    numbers += [getattr(judged, name) for judged in record.judged for name in JUDGED]
    for pair in combinations(members, 2):
        numbers += [getattr(met.get(pair), name, None) for name in PAIRED]
    whole = record.whole
    numbers += [members.index(whole.winner) if whole.winner else None]
    numbers += [getattr(whole, name) for name in WHOLE[1:]]
    return PackedRecord(
        round_id=record.round_id,
        asked_at=record.asked_at,
        panel=record.panel,
        scope=record.scope,
        bakeoff=record.bakeoff,
        number=record.number,
        suite=record.suite,
        suite_version=record.suite_version,
        category=record.category,
        shape=json.dumps([members, judges], ensure_ascii=False, separators=(",", ":")),
        numbers=np.array(numbers, dtype=float).astype(_SINGLE).tobytes(),
        version=VERSION,
    )


def unpacked(row: PackedRecord) -> Record:
    """Give the record that was packed; its numbers come back in single precision."""
    members, judges = _shape(row.shape)
    authored, judged, pairs, whole = _tables(row.shape, [row.numbers])
    winner = whole[0, 0]
    return Record(
        round_id=row.round_id,
        asked_at=row.asked_at,
        panel=row.panel,
        scope=row.scope,
        authored=tuple(
            AuthorRecord(member, **_named(AUTHORED, authored[0, i]))
            for i, member in enumerate(members)
        ),
        judged=tuple(
            JudgeRecord(judge, **_named(JUDGED, judged[0, i])) for i, judge in enumerate(judges)
        ),
        margins=tuple(
            Margin(*pair, **_named(PAIRED, pairs[0, i]))
            for i, pair in enumerate(combinations(members, 2))
            if not isnan(pairs[0, i, 1])
        ),
        whole=CouncilRecord(
            winner=None if isnan(winner) else members[int(winner)],
            **_named(WHOLE[1:], whole[0, 1:]),
        ),
        bakeoff=row.bakeoff,
        number=row.number,
        suite=row.suite,
        suite_version=row.suite_version,
        category=row.category,
    )


def _named(names: Iterable[str], numbers: Singles) -> dict[str, Any]:
    return {name: _value(name, float(number)) for name, number in zip(names, numbers, strict=True)}


def _value(name: str, number: float) -> float | int | bool | None:
    if isnan(number):
        return None
    if name in _TRUTHS:
        return bool(number)
    return int(number) if name in _COUNTS else number


def columns(rows: Iterable[PackedRecord]) -> Columns:
    """Give many records as arrays, in the order they were asked.

    Records of another version than today's are left out: they are being made anew.
    """
    today = (row for row in rows if row.version == VERSION)
    ordered = sorted(today, key=attrgetter("asked_at", "bakeoff", "number"))
    shapes: dict[str, list[int]] = {}
    for i, row in enumerate(ordered):
        shapes.setdefault(row.shape, []).append(i)
    seats = [_shape(shape) for shape in shapes]
    members = sorted({member for seated, _ in seats for member in seated})
    judges = sorted({judge for _, seated in seats for judge in seated})
    authored = _unknown(len(ordered), len(members), len(AUTHORED))
    judged = _unknown(len(ordered), len(judges), len(JUDGED))
    whole = _unknown(len(ordered), len(WHOLE))
    blocks = []
    for shape, rounds in shapes.items():
        where = np.array(rounds)
        tables = _tables(shape, [ordered[i].numbers for i in rounds])
        own = np.array([members.index(member) for member in _shape(shape)[0]], dtype=int)
        votes = np.array([judges.index(judge) for judge in _shape(shape)[1]], dtype=int)
        authored[where[:, None], own] = tables.authored
        judged[where[:, None], votes] = tables.judged
        whole[where] = tables.whole
        won = ~np.isnan(tables.whole[:, 0])
        whole[where[won], 0] = own[tables.whole[won, 0].astype(int)]
        blocks.append(Block(where, _shape(shape)[0], tables.pairs))
    return Columns(
        tuple(ordered), tuple(members), tuple(judges), authored, judged, whole, tuple(blocks)
    )


class _Tables(NamedTuple):
    """The numbers of records of one shape; the first axis is the record."""

    authored: Singles
    judged: Singles
    pairs: Singles
    whole: Singles


@cache
def _shape(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the members and the judges that a shape names."""
    members, judges = json.loads(text)
    return tuple(members), tuple(judges)


def _tables(shape: str, numbers: Sequence[bytes]) -> _Tables:
    members, judges = map(len, _shape(shape))
    heights = (members, judges, comb(members, 2), 1)
    widths = (len(AUTHORED), len(JUDGED), len(PAIRED), len(WHOLE))
    flat = np.frombuffer(b"".join(numbers), dtype=_SINGLE).reshape(len(numbers), -1)
    ends = np.cumsum([height * width for height, width in zip(heights, widths, strict=True)])
    parts = [
        part.reshape(len(numbers), height, width)
        for part, height, width in zip(
            np.split(flat, ends[:-1], axis=1), heights, widths, strict=True
        )
    ]
    return _Tables(parts[0], parts[1], parts[2], parts[3][:, 0])


def _unknown(*sizes: int) -> Singles:
    return np.full(sizes, np.nan, dtype=np.float32)
