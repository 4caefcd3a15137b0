"""Rounds in a SQL database: one transaction for each artefact, each kept at most once."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlmodel import SQLModel, col

from council.ballots import Ballot
from council.errors import RoundNotFoundError, StoreError
from council.ports import EVERY, RoundLine, Wanted
from council.rounds import Artefact, Closing, Round
from storage.database import for_reading
from storage.finding import PAST_ROUNDS, the_one
from storage.finishing import finished
from storage.listing import line_from, lines_query
from storage.reading import PARTS, Parts, past_ballot_from, round_from
from storage.rows import BallotRow, RoundRow
from storage.transactions import insert_once
from storage.transactions import transaction as _transaction
from storage.writing import artefact_rows, closing_values, round_row


class SqlStore:
    """Rounds as rows; the same on SQLite and Postgres."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._readers = for_reading(engine)

    @finished
    async def open(self, round_: Round) -> bool:
        """Keep a new round; give False if its id is kept already."""
        async with _transaction(self._engine) as connection:
            return await _insert(connection, [round_row(round_)])

    @finished
    async def save(self, round_id: str, artefact: Artefact) -> None:
        """Keep what a round has come to, once."""
        if isinstance(artefact, Closing):
            async with _transaction(self._engine) as connection:
                await connection.execute(_close(round_id, artefact))
            return
        # With the first row's key taken, the artefact is kept already.
        first, *others = artefact_rows(artefact, round_id)
        async with _transaction(self._engine) as connection:
            if await _insert(connection, [first]):
                for _, alike in groupby(others, key=type):
                    await _insert(connection, [*alike])

    @finished
    async def load(self, round_id: str) -> Round:
        """Give a round with its parts in panel order."""
        async with _transaction(self._readers) as connection:
            row = await _rows(connection, select(RoundRow).where(col(RoundRow.id) == round_id))
            if not row:
                raise RoundNotFoundError(f"There is no round {round_id!r}.")
            parts = {
                table: await _rows(connection, select(table).where(table.round_id == round_id))
                for table in PARTS
            }
        return round_from(row[0], Parts(parts))

    @finished
    async def find(self, start: str) -> str:
        """Give the one round id that starts so."""
        # LIKE would take capitals for small letters on SQLite, and on Postgres not.
        query = select(col(RoundRow.id)).where(func.substr(RoundRow.id, 1, len(start)) == start)
        async with _transaction(self._readers) as connection:
            return the_one(start, (await connection.execute(query)).scalars().all())

    @finished
    async def recent(
        self, limit: int | None = None, wanted: Wanted = EVERY
    ) -> tuple[RoundLine, ...]:
        """Give the stored rounds that are wanted, newest first."""
        query = lines_query(wanted).limit(limit)
        async with _transaction(self._readers) as connection:
            found = (await connection.execute(query)).all()
        return tuple(map(line_from, found))

    @finished
    async def past_ballots(self, panel: str) -> tuple[Sequence[Ballot], ...]:
        """Give the counted ballots of the panel's last closed rounds, without their papers."""
        last = (
            select(col(RoundRow.id))
            .where(col(RoundRow.panel_name) == panel, col(RoundRow.seconds).is_not(None))
            .order_by(col(RoundRow.asked_at).desc(), col(RoundRow.id))
            .limit(PAST_ROUNDS)
        )
        query = (
            select(
                col(BallotRow.round_id),
                col(BallotRow.judge),
                col(BallotRow.shown),
                col(BallotRow.ranking),
                col(BallotRow.reason),
            )
            .where(col(BallotRow.round_id).in_(last), col(BallotRow.audit) == "")
            .order_by(col(BallotRow.round_id))
        )
        async with _transaction(self._readers) as connection:
            rows = await _rows(connection, query)
        grouped = groupby(rows, key=lambda row: row["round_id"])
        past: list[Sequence[Ballot]] = []
        for _, ballots in grouped:
            # A round somebody meddled with says nothing of its judges; `verify` names it.
            with suppress(StoreError):
                past.append(tuple(map(past_ballot_from, ballots)))
        return tuple(past)


async def _insert(connection: AsyncConnection, rows: Sequence[SQLModel]) -> bool:
    """Insert rows of one table unless their keys are taken; say whether any was inserted."""
    insert = insert_once(type(rows[0]), connection.dialect.name)
    inserted = await connection.execute(insert, [row.model_dump() for row in rows])
    return inserted.first() is not None


async def _rows(connection: AsyncConnection, query: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    return [dict(row) for row in (await connection.execute(query)).mappings()]


def _close(round_id: str, closing: Closing) -> Any:  # noqa: ANN401
    row = update(RoundRow).where(col(RoundRow.id) == round_id, col(RoundRow.seconds).is_(None))
    return row.values(**closing_values(closing))
