"""Pack records for storage, and unpack many of them into numpy arrays."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, compress
from math import comb
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from council.bakeoffs.records import (
    AUTHOR_FIELDS,
    JUDGE_FIELDS,
    PAIR_FIELDS,
    ROUND_FIELDS,
    VERSION,
    PackedRecord,
    Record,
)

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Booleans = NDArray[np.bool_]
Indexes = NDArray[np.intp]

PRECISION = 1e-6  # of values computed from single-precision numbers


@dataclass(frozen=True, slots=True)
class Block:
    """Rounds of one shape: their indexes, and PAIR_FIELDS for `combinations(members, 2)`."""

    where: Indexes
    members: tuple[str, ...]
    pairs: Singles

    @property
    def won(self) -> Singles:
        """The share of judges who ranked the first of each pair above the second."""
        return self.pairs[:, :, PAIR_FIELDS.index("won")]


@dataclass(frozen=True, slots=True)
class Columns:
    """Numbers of rounds, oldest first, by round and by member or judge; read them by field name."""

    rows: tuple[PackedRecord, ...]
    members: tuple[str, ...]
    judges: tuple[str, ...]
    authored: Singles
    judged: Singles
    whole: Singles
    blocks: tuple[Block, ...]

    def author(self, field: str) -> Floats:
        """Return a field of AUTHOR_FIELDS, by (round, member)."""
        return self.authored[:, :, AUTHOR_FIELDS.index(field)].astype(float)

    def judge(self, field: str) -> Floats:
        """Return a field of JUDGE_FIELDS, by (round, judge)."""
        return self.judged[:, :, JUDGE_FIELDS.index(field)].astype(float)

    def round(self, field: str) -> Floats:
        """Return a field of ROUND_FIELDS, by round; `winner` is an index into `members`."""
        return self.whole[:, ROUND_FIELDS.index(field)].astype(float)

    def margin(self, first: str, second: str) -> Floats:
        """Return by round the first's margin over the second among judges outside the pair."""
        return self._pair(first, second, "margin", lambda margins: -margins)

    def won(self, first: str, second: str) -> Floats:
        """Return by round the share of judges who ranked the first above the second."""
        return self._pair(first, second, "won", lambda shares: 1 - shares)

    def _pair(
        self, first: str, second: str, field: str, reverse: Callable[[Singles], Singles]
    ) -> Floats:
        values = np.full(len(self.rows), np.nan)
        for block in self.blocks:
            if first in block.members and second in block.members:
                i, j = block.members.index(first), block.members.index(second)
                pairs = list(combinations(range(len(block.members)), 2))
                numbers = block.pairs[:, pairs.index((min(i, j), max(i, j)))]
                field_values = numbers[:, PAIR_FIELDS.index(field)]
                values[block.where] = field_values if i < j else reverse(field_values)
        return values

    def only(self, wanted: Booleans) -> "Columns":
        """Return the rounds where `wanted` is true, with the members and judges of those rounds."""
        if wanted.all():
            return self
        new_index = np.cumsum(wanted) - 1
        authored, judged = self.authored[wanted], self.judged[wanted]
        has_answered = np.array((~np.isnan(authored)).any(axis=(0, 2)))
        has_judged = np.array((~np.isnan(judged)).any(axis=(0, 2)))
        blocks = (
            Block(new_index[block.where[kept]], block.members, block.pairs[kept])
            for block, kept in ((block, wanted[block.where]) for block in self.blocks)
            if kept.any()
        )
        return Columns(
            rows=tuple(compress(self.rows, wanted)),
            members=tuple(compress(self.members, has_answered)),
            judges=tuple(compress(self.judges, has_judged)),
            authored=authored[:, has_answered],
            judged=judged[:, has_judged],
            whole=_renumber_winners(self.whole[wanted], np.cumsum(has_answered) - 1),
            blocks=tuple(blocks),
        )


def _renumber_winners(whole: Singles, new_index: Indexes) -> Singles:
    """Return the rounds with winners as indexes into the remaining members."""
    has_winner = ~np.isnan(whole[:, 0])
    renumbered = whole.copy()
    renumbered[has_winner, 0] = new_index[whole[has_winner, 0].astype(int)]
    return renumbered


_SINGLE = np.dtype("<f4")


def pack_record(record: Record) -> PackedRecord:
    """Return a record as it is stored, its numbers in single precision."""
    members = [authored.member for authored in record.authored]
    judges = [judged.judge for judged in record.judged]
    margins = {(margin.first, margin.second): margin for margin in record.margins}
    numbers = [getattr(authored, name) for authored in record.authored for name in AUTHOR_FIELDS]
    numbers += [getattr(judged, name) for judged in record.judged for name in JUDGE_FIELDS]
    for pair in combinations(members, 2):
        numbers += [getattr(margins.get(pair), name, None) for name in PAIR_FIELDS]
    whole = record.whole
    numbers += [members.index(whole.winner) if whole.winner else None]
    numbers += [getattr(whole, name) for name in ROUND_FIELDS[1:]]
    names = set(PackedRecord._fields) - {"shape", "numbers", "version"}
    return PackedRecord(
        shape=json.dumps([members, judges], ensure_ascii=False, separators=(",", ":")),
        numbers=np.array(numbers, dtype=float).astype(_SINGLE).tobytes(),
        version=VERSION,
        **{name: getattr(record, name) for name in names},
    )


def record_columns(rows: Iterable[PackedRecord]) -> Columns:
    """Return records of the current version as arrays, in the order they were asked."""
    current = (row for row in rows if row.version == VERSION)
    ordered = sorted(current, key=attrgetter("asked_at", "bakeoff", "number"))
    shapes: dict[str, list[int]] = {}
    for i, row in enumerate(ordered):
        shapes.setdefault(row.shape, []).append(i)
    seats = [_parse_shape(shape) for shape in shapes]
    members = sorted({member for seated, _ in seats for member in seated})
    judges = sorted({judge for _, seated in seats for judge in seated})
    authored = _nan_array(len(ordered), len(members), len(AUTHOR_FIELDS))
    judged = _nan_array(len(ordered), len(judges), len(JUDGE_FIELDS))
    whole = _nan_array(len(ordered), len(ROUND_FIELDS))
    blocks = []
    for (authors, voters), rounds in zip(seats, shapes.values(), strict=True):
        where = np.array(rounds)
        by_author, by_judge, pairs, by_round = _split_numbers(
            len(authors), len(voters), [ordered[i].numbers for i in rounds]
        )
        author_columns = np.array([members.index(member) for member in authors], dtype=int)
        judge_columns = np.array([judges.index(judge) for judge in voters], dtype=int)
        authored[where[:, None], author_columns] = by_author
        judged[where[:, None], judge_columns] = by_judge
        whole[where] = _renumber_winners(by_round[:, 0], author_columns)
        blocks.append(Block(where, authors, pairs))
    return Columns(
        tuple(ordered), tuple(members), tuple(judges), authored, judged, whole, tuple(blocks)
    )


@cache
def _parse_shape(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    members, judges = json.loads(text)
    return tuple(members), tuple(judges)


def _split_numbers(members: int, judges: int, numbers: Sequence[bytes]) -> list[Singles]:
    """Return the four tables of records of one shape; their first axis is the record."""
    heights = (members, judges, comb(members, 2), 1)
    widths = (len(AUTHOR_FIELDS), len(JUDGE_FIELDS), len(PAIR_FIELDS), len(ROUND_FIELDS))
    flat = np.frombuffer(b"".join(numbers), dtype=_SINGLE).reshape(len(numbers), -1)
    offsets = np.cumsum([height * width for height, width in zip(heights, widths, strict=True)])
    return [
        part.reshape(len(numbers), height, width)
        for part, height, width in zip(
            np.split(flat, offsets[:-1], axis=1), heights, widths, strict=True
        )
    ]


def _nan_array(*sizes: int) -> Singles:
    return np.full(sizes, np.nan, dtype=np.float32)
