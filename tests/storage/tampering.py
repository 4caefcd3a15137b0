"""A closed round with something in every column, and every change of one column of it.

Changes are made by another program, past ours and past foreign keys.
"""

import json
import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlmodel import SQLModel

from council.answers import Prompt, Reply, Role
from council.errors import CouncilError
from council.integrity.erasure import removable_texts
from council.integrity.seal import find_changes
from council.integrity.verification import ChainWalk
from council.places import Place
from council.rounds import Fallback, Question, Round
from storage.hash_chain import SqlHashChain
from storage.rounds import SqlRoundStore
from storage.row_mapping import PART_TABLES
from storage.tables import Json, LateReplyRow, RoundRow
from tests.builders import a_panel, a_spoiled_ballot, an_absence, an_exchange
from tests.storage.builders import a_closed_round

# Late replies may come after the seal.
TABLES: tuple[type[SQLModel], ...] = (
    RoundRow,
    *(table for table in PART_TABLES if table is not LateReplyRow),
)
REPLY = Reply("Said.", tokens_in=7, tokens_out=9, cost_usd=0.25, seconds=1.5, attempts=2)
GRADED = replace(REPLY, logprobs=((2, (("4", -0.5), ("5", -1.25))),))
PROMPT = Prompt("Be brief.", "Why?")
PLACE = Place("slack", "T1", "C1", "17.5", private=True)


def a_full_round(round_id: str = "r1") -> Round:
    """Return a closed round with as little left out as there can be."""
    round_ = a_closed_round(round_id, a_panel(3))
    paper = replace(an_exchange(), prompt=PROMPT, reply=GRADED, cut_to=900)
    audit = replace(round_.ballots[0], audit="order", paper=paper, reason="It is right.")
    first, *answers = round_.answers
    named = replace(first, prompt=PROMPT, reply=REPLY, scrubbed=("GPT",), suspicions=("orders",))
    written = round_.synthesis
    return replace(
        round_,
        question=Question("Why?", "U1", "A thread.", PLACE, "Because."),
        versions=(("litellm", "1.0"), ("prompts", "3")),
        answers=(named, *answers),
        absences=(an_absence(role=Role.SYNTHESIS),),
        ballots=(*round_.ballots, audit),
        spoiled=(replace(a_spoiled_ballot(), paper=paper),),
        synthesis=written
        and replace(
            written,
            fallback=Fallback.CHAIRMAN,
            drawn_on=round_.draw.labels.labels[:2] if round_.draw else (),
            why="It is newer.",
            prompt=PROMPT,
            reply=REPLY,
        ),
        bakeoff="bo:1",
    )


@dataclass(frozen=True, slots=True)
class Change:
    """A new value for one column of one row, as the file keeps it; `where` tells the row."""

    table: str
    column: str
    where: dict[str, Any]
    value: object

    @property
    def name(self) -> str:
        """The column, and its table."""
        return f"{self.table}.{self.column}"

    @property
    def before(self) -> object:
        """The value that was there."""
        return self.where[self.column]

    def __str__(self) -> str:
        return f"{self.name} = {self.value!r}"


class Meddler:
    """Another program that changes the file."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def make(self, change: Change) -> bool:
        """Change one column; return False if that would be another row's key."""
        try:
            self._run(
                f'UPDATE "{change.table}" SET "{change.column}" = ? WHERE {_is(change.where)}',  # noqa: S608 - ours
                change.value,
                *change.where.values(),
            )
        except sqlite3.IntegrityError:
            return False
        return True

    def undo(self, change: Change) -> None:
        """Put the column back."""
        there = change.where | {change.column: change.value}
        self._run(
            f'UPDATE "{change.table}" SET "{change.column}" = ? WHERE {_is(there)}',  # noqa: S608 - ours
            change.before,
            *there.values(),
        )

    def delete(self, table: str, row: dict[str, Any]) -> None:
        """Delete a row and nothing that points at it."""
        self._run(f'DELETE FROM "{table}" WHERE {_is(row)}', *row.values())  # noqa: S608 - ours

    def insert(self, table: str, row: dict[str, Any]) -> None:
        """Insert a row as it was."""
        names = ", ".join(f'"{name}"' for name in row)
        places = ", ".join("?" * len(row))
        self._run(f'INSERT INTO "{table}" ({names}) VALUES ({places})', *row.values())  # noqa: S608 - ours

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Return every row of a table, as the file keeps it."""
        with closing(sqlite3.connect(self._file)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(f'SELECT * FROM "{table}"')]  # noqa: S608 - ours

    def _run(self, statement: str, *values: object) -> None:
        with closing(sqlite3.connect(self._file)) as connection, connection:
            connection.execute("PRAGMA synchronous=OFF")  # a great many changes, none to outlive us
            assert connection.execute(statement, values).rowcount == 1


def changes_of(table: type[SQLModel], row: dict[str, Any]) -> Iterator[Change]:
    """Return every change of one column of a row, several where a column holds much."""
    declared = SQLModel.metadata.tables[str(table.__tablename__)]
    for column in declared.columns:
        for value in _others(row[column.name], is_json=isinstance(column.type, Json)):
            yield Change(str(declared.name), column.name, row, value)


async def is_found(store: SqlRoundStore, chain: SqlHashChain, round_id: str) -> bool:
    """Return whether `council verify --all` finds anything, even without recomputing the round."""
    if await _has_broken_chain(chain):
        return True
    try:
        round_, seal = await store.load(round_id), await store.seal(round_id)
    except CouncilError:
        return True
    left = removable_texts(round_) if round_.forgotten else ()
    return bool(left) or seal is None or bool(find_changes(round_, seal))


async def _has_broken_chain(chain: SqlHashChain) -> bool:
    for head in await chain.heads():
        walk = ChainWalk(head.scope)
        for link in await chain.links(head.scope, None, 1000):
            walk.past(link)
        if walk.findings:
            return True
    return False


def _is(row: dict[str, Any]) -> str:
    return " AND ".join(f'"{name}" IS ?' for name in row)


def _others(value: object, *, is_json: bool) -> Iterator[object]:
    if value is None:
        yield "1.5"
    elif is_json:
        for other in _other_documents(json.loads(str(value))):
            yield json.dumps(other)
    else:
        yield from _other_scalars(value)


def _other_scalars(value: object) -> Iterator[object]:
    """Return values near this one: the nearest there is, and one of another sense."""
    if isinstance(value, str):
        yield from (f"{value} ", *([""] if value else []))
        if value[-1:].isdigit():  # a moment stays one
            yield value[:-1] + ("1" if value[-1] != "1" else "2")
    elif isinstance(value, int):
        yield 1 - value if value in {0, 1} else value + 1
    elif isinstance(value, float):
        yield from (math.nextafter(value, math.inf), value + 0.25)


def _other_documents(document: object) -> Iterator[object]:
    """Return a document with one thing in it changed, at any depth, left out, or added."""
    if isinstance(document, dict):
        yield from _other_maps(document)
    elif isinstance(document, list):
        yield [*document, *(document[-1:] or ["x"])]
        for i, value in enumerate(document):
            yield [*document[:i], *document[i + 1 :]]
            for other in _other_documents(value):
                yield [*document[:i], other, *document[i + 1 :]]
    elif isinstance(document, bool) or document is None:
        yield not document
    else:
        yield from _other_scalars(document)


def _other_maps(document: dict[str, object]) -> Iterator[object]:
    for key, value in document.items():
        yield {name: kept for name, kept in document.items() if name != key}
        for other in _other_documents(value):
            yield document | {key: other}
