"""Packed tables: the numbers of a round as bytes, next to a layout that names every field.

Fields are read by name. One that a round was stored without is unknown, never an error.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
BYTE, SINGLE = "u1", "<f4"


class Table(NamedTuple):
    """Numbers of one numpy type: a row for each combination of the axes, a column for each field.

    An axis is a letter: "m" for members, "j" judges, "p" pairs of members, "c" checks.
    """

    axes: str
    type: str
    fields: tuple[str, ...]


Layout = tuple[Table, ...]


def parse_layout(stored: Sequence[Any]) -> Layout:
    """Return the layout that a list from JSON describes."""
    return tuple(Table(axes, type_, tuple(fields)) for axes, type_, fields in stored)


def pack_tables(layout: Layout, tables: Sequence[Any]) -> bytes:
    """Return the numbers of one round; None becomes NaN."""
    # By way of doubles, as numpy turns None into NaN only there.
    arrays = (np.asarray(table, dtype=float) for table in tables)
    return b"".join(
        array.astype(one.type).tobytes() for one, array in zip(layout, arrays, strict=True)
    )


@dataclass(frozen=True, slots=True)
class UnpackedTables:
    """The numbers of rounds that share a layout and sizes, by round, axes and field."""

    layout: Layout
    sizes: Mapping[str, int]
    arrays: tuple[Array, ...]

    def read(self, wanted: Table, unknown: float = np.nan) -> Array:
        """Return the wanted fields, by round, axes and field; `unknown` where one is not stored."""
        stored = [
            (table, array)
            for table, array in zip(self.layout, self.arrays, strict=True)
            if table.axes == wanted.axes
        ]
        for table, array in stored:
            if table == wanted:
                return array
        rounds = len(self.arrays[0])
        sizes = (self.sizes[axis] for axis in wanted.axes)
        found = np.full((rounds, *sizes, len(wanted.fields)), unknown, dtype=wanted.type)
        for table, array in stored:
            for i, name in enumerate(wanted.fields):
                if name in table.fields:
                    found[..., i] = array[..., table.fields.index(name)]
        return found


def unpack_tables(
    layout: Layout, sizes: Mapping[str, int], rounds: Sequence[bytes]
) -> UnpackedTables:
    """Return the numbers of one or more rounds; raise ValueError if they are not of this layout."""
    flat = np.frombuffer(b"".join(rounds), dtype=np.uint8).reshape(len(rounds), -1)
    arrays, start = list[Array](), 0
    for table in layout:
        shape = (*(sizes[axis] for axis in table.axes), len(table.fields))
        end = start + prod(shape) * np.dtype(table.type).itemsize
        part = np.ascontiguousarray(flat[:, start:end]).view(table.type)
        arrays.append(part.reshape(len(rounds), *shape))
        start = end
    if start != flat.shape[1]:
        raise ValueError(f"{flat.shape[1]} bytes a round, where the layout has {start}")
    return UnpackedTables(layout, sizes, tuple(arrays))


# By what they are of, such as "members[north]", and their field.
NamedNumbers = dict[tuple[str, str], float | str]
_ROWS = {"m": "members", "j": "judges", "p": "pairs", "c": "checks", "jm": "votes"}


def name_numbers(tables: UnpackedTables, names: Mapping[str, Sequence[str]]) -> NamedNumbers:
    """Return every number of the first round; `names` has the rows of each axis."""
    found: NamedNumbers = {}
    for table, array in zip(tables.layout, tables.arrays, strict=True):
        for *where, column in np.ndindex(array.shape[1:]):
            row = ", ".join(names[axis][i] for axis, i in zip(table.axes, where, strict=True))
            of = f"{_ROWS.get(table.axes, table.axes)}[{row}]" if row else "round"
            found[of, table.fields[column]] = float(array[0][*where, column])
    return found
