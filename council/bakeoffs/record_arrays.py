"""Pack records for storage, and unpack many of them into numpy arrays."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, compress
from math import comb
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from council.bakeoffs.packed_tables import (
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
from council.bakeoffs.records import (
    AUTHOR_FIELDS,
    FIRST_VERSION,
    JUDGE_FIELDS,
    PAIR_FIELDS,
    ROUND_FIELDS,
    VERSION,
    PackedRecord,
    Record,
)
from council.tally.consistency import Repeats

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
    """Numbers of rounds, oldest first, by round and by member or judge; read them by field name.

    `chairmen` are those that wrote, by round; "" if none did or it was not stored.
    """

    rows: tuple[PackedRecord, ...]
    members: tuple[str, ...]
    judges: tuple[str, ...]
    authored: Singles
    judged: Singles
    whole: Singles
    blocks: tuple[Block, ...]
    chairmen: tuple[str, ...] = ()

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
            chairmen=tuple(compress(self.chairmen, wanted)),
        )


def _renumber_winners(whole: Singles, new_index: Indexes) -> Singles:
    """Return the rounds with winners as indexes into the remaining members."""
    has_winner = ~np.isnan(whole[:, _WINNER])
    renumbered = whole.copy()
    renumbered[has_winner, _WINNER] = new_index[whole[has_winner, _WINNER].astype(int)]
    return renumbered


_WINNER = ROUND_FIELDS.index("winner")
AUTHORS = Table("m", SINGLE, AUTHOR_FIELDS)
JUDGES = Table("j", SINGLE, JUDGE_FIELDS)
PAIRS = Table("p", SINGLE, PAIR_FIELDS)
WHOLE = Table("", SINGLE, ROUND_FIELDS)
LAYOUT = (AUTHORS, JUDGES, PAIRS, WHOLE)
# Of records that were stored without the names of their fields.
_UNNAMED_LAYOUT = (
    Table(
        "m",
        SINGLE,
        (
            "share",
            "place",
            "correct",
            "refused",
            "absent",
            "words",
            "tokens_out",
            "cost_usd",
            "seconds",
            "first_votes",
            "ballots",
            "named_itself",
        ),
    ),
    Table("j", SINGLE, ("valid", "spoiled", "tau_b", "first_slot", "kept", "pairs", "cost_usd")),
    Table("p", SINGLE, ("margin", "judges", "won")),
    Table(
        "",
        SINGLE,
        (
            "winner",
            "council_correct",
            "cost_usd",
            "seconds",
            "synthesis_usd",
            "synthesis_seconds",
        ),
    ),
)


class _Shape(NamedTuple):
    members: tuple[str, ...]
    judges: tuple[str, ...]
    layout: Layout
    chairman: str | None  # None if it was not stored

    def unpack(self, numbers: Sequence[bytes]) -> UnpackedTables:
        members = len(self.members)
        sizes = {"m": members, "j": len(self.judges), "p": comb(members, 2)}
        return unpack_tables(self.layout, sizes, numbers)


def name_record(row: PackedRecord) -> NamedNumbers:
    """Return every stored number of a record; raise ValueError if it cannot be read."""
    shape = _parse_shape(row.shape)
    pairs = [" and ".join(pair) for pair in combinations(shape.members, 2)]
    names = {"m": shape.members, "j": shape.judges, "p": pairs}
    numbers = name_numbers(shape.unpack([row.numbers]), names)
    if shape.chairman is not None:
        numbers["round", "chairman"] = shape.chairman
    return numbers


def pack_record(record: Record) -> PackedRecord:
    """Return a record as it is stored, its numbers in single precision."""
    members = [authored.member for authored in record.authored]
    judges = [judged.judge for judged in record.judged]
    margins = {(margin.first, margin.second): margin for margin in record.margins}
    whole = {name: getattr(record.whole, name) for name in ROUND_FIELDS}
    whole["winner"] = members.index(whole["winner"]) if whole["winner"] else None
    tables = (
        [[getattr(authored, name) for name in AUTHOR_FIELDS] for authored in record.authored],
        [[getattr(judged, name) for name in JUDGE_FIELDS] for judged in record.judged],
        [
            [getattr(margins.get(pair), name, None) for name in PAIR_FIELDS]
            for pair in combinations(members, 2)
        ],
        [*whole.values()],
    )
    names = set(PackedRecord._fields) - {"shape", "numbers", "version"}
    shape = (members, judges, LAYOUT, record.chairman)
    return PackedRecord(
        shape=json.dumps(shape, ensure_ascii=False, separators=(",", ":")),
        numbers=pack_tables(LAYOUT, tables),
        version=VERSION,
        **{name: getattr(record, name) for name in names},
    )


def record_columns(rows: Iterable[PackedRecord]) -> Columns:
    """Return records as arrays, in the order they were asked; fields not stored are unknown."""
    readable = (row for row in rows if row.version >= FIRST_VERSION)
    ordered = sorted(readable, key=attrgetter("asked_at", "bakeoff", "number"))
    shapes: dict[str, list[int]] = {}
    for i, row in enumerate(ordered):
        shapes.setdefault(row.shape, []).append(i)
    seats = [_parse_shape(shape) for shape in shapes]
    members = sorted({member for shape in seats for member in shape.members})
    judges = sorted({judge for shape in seats for judge in shape.judges})
    authored = _nan_array(len(ordered), len(members), len(AUTHOR_FIELDS))
    judged = _nan_array(len(ordered), len(judges), len(JUDGE_FIELDS))
    whole = _nan_array(len(ordered), len(ROUND_FIELDS))
    blocks = []
    for shape, rounds in zip(seats, shapes.values(), strict=True):
        where = np.array(rounds)
        tables = shape.unpack([ordered[i].numbers for i in rounds])
        author_columns = np.array([members.index(member) for member in shape.members], dtype=int)
        judge_columns = np.array([judges.index(judge) for judge in shape.judges], dtype=int)
        authored[where[:, None], author_columns] = tables.read(AUTHORS)
        judged[where[:, None], judge_columns] = tables.read(JUDGES)
        whole[where] = _renumber_winners(tables.read(WHOLE), author_columns)
        blocks.append(Block(where, shape.members, tables.read(PAIRS)))
    return Columns(
        rows=tuple(ordered),
        members=tuple(members),
        judges=tuple(judges),
        authored=authored,
        judged=judged,
        whole=whole,
        blocks=tuple(blocks),
        chairmen=tuple(_parse_shape(row.shape).chairman or "" for row in ordered),
    )


@cache
def _parse_shape(text: str) -> _Shape:
    members, judges, *more = json.loads(text)
    layout = parse_layout(more[0]) if more else _UNNAMED_LAYOUT
    return _Shape(tuple(members), tuple(judges), layout, more[1] if len(more) > 1 else None)


def _nan_array(*sizes: int) -> Singles:
    return np.full(sizes, np.nan, dtype=np.float32)


def count_repeats(columns: Columns) -> dict[str, Repeats]:
    """Return the repeats of each judge with any: audits in reverse order, and second passes.

    The share is the mean over ballots of the share of pairs kept, as in bias reports.
    """
    kept, pairs = columns.judge("kept"), columns.judge("pairs")
    shares = np.where(pairs > 0, kept / np.where(pairs > 0, pairs, 1.0), np.nan)
    return {
        judge: Repeats(len(known), float(known.mean()))
        for judge, column in zip(columns.judges, shares.T, strict=True)
        if len(known := column[~np.isnan(column)])
    }
