"""Rounds in a SQL database: one transaction for each artefact, each kept at most once."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import groupby
from typing import Any

from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlmodel import SQLModel, col

from council.ballots import Ballot
from council.errors import StoreError
from council.feedback import Feedback
from council.forgetting import forget, refusal
from council.human_votes import HumanVote
from council.ports import EVERY, RoundLine, Wanted
from council.rounds import Artefact, Closing, Round
from storage.acts import insert, rows_of, transaction
from storage.database import for_reading
from storage.dropping import drop
from storage.faults import told_kindly
from storage.finding import PAST_ROUNDS, the_one, unknown
from storage.finishing import finished
from storage.gathering import Gathering
from storage.listing import ids_query, line_from, line_query, lines_query
from storage.rating import leave_unsaid, rate, ratings
from storage.reading import PARTS, Parts, past_ballot_from, round_from
from storage.rows import BallotRow, RoundRow
from storage.voting import vote as kept_vote
from storage.voting import votes as votes_on
from storage.wiping import owe, wipe
from storage.writing import artefact_rows, closing_values, forgotten_values, part_rows, round_row


class SqlStore:
    """Rounds as rows; the same on SQLite and Postgres."""

    def __init__(self, engine: AsyncEngine) -> None:
        self.engine = engine
        self._readers = for_reading(engine)
        self._saves = Gathering(self._save)

    @finished
    async def open(self, round_: Round) -> bool:
        """Keep a new round with all it holds; give False if its id is kept already."""
        async with transaction(self.engine) as connection:
            is_new = await insert(connection, [round_row(round_)])
            if is_new:
                await _insert_all(connection, part_rows(round_))
            return is_new

    @finished
    async def save(self, round_id: str, artefact: Artefact) -> None:
        """Keep what a round has come to, once; what comes together is written together."""
        await self._saves.done((round_id, artefact))

    async def _save(self, saves: Sequence[tuple[str, Artefact]]) -> None:
        async with transaction(self.engine) as connection:
            for round_id in dict.fromkeys(round_id for round_id, _ in saves):
                await _check_remembered(connection, round_id)
            for round_id, artefact in saves:
                await _keep(connection, round_id, artefact)

    @finished
    async def load(self, round_id: str) -> Round:
        """Give a round with its parts in panel order."""
        async with transaction(self._readers) as connection:
            found = await _found(connection, select(RoundRow), round_id)
        return round_from(*found)

    @finished
    async def find(self, start: str) -> str:
        """Give the one round id that starts so."""
        # LIKE would take capitals for small letters on SQLite, and on Postgres not.
        query = select(col(RoundRow.id)).where(func.substr(RoundRow.id, 1, len(start)) == start)
        async with transaction(self._readers) as connection:
            return the_one(start, (await connection.execute(query)).scalars().all())

    @finished
    async def recent(
        self, limit: int | None = None, wanted: Wanted = EVERY
    ) -> tuple[RoundLine, ...]:
        """Give the stored rounds that are wanted, newest first."""
        query = lines_query(wanted).limit(limit)
        async with transaction(self._readers) as connection:
            found = (await connection.execute(query)).all()
        return tuple(map(line_from, found))

    @finished
    async def line(self, round_id: str) -> RoundLine:
        """Give a round in one line."""
        async with transaction(self._readers) as connection:
            found = (await connection.execute(line_query(round_id))).one_or_none()
        if found is None:
            raise unknown(round_id)
        return line_from(found)

    @finished
    async def pause(self, round_id: str, *, paused: bool) -> None:
        """Note that somebody stopped a round on purpose, or wants it to go on."""
        await self._note(round_id, paused=paused)

    @finished
    async def deliver(self, round_id: str, *, delivered: bool) -> None:
        """Note that all there is to say of a round is in its place, or is not."""
        await self._note(round_id, delivered=delivered)

    async def _note(self, round_id: str, **values: bool) -> None:
        noted = update(RoundRow).where(col(RoundRow.id) == round_id).values(**values)
        async with transaction(self.engine) as connection:
            await connection.execute(noted)

    @finished
    async def rate(self, feedback: Feedback) -> None:
        """Keep what somebody thinks of a round; of one person's several the newest."""
        async with transaction(self.engine) as connection:
            await rate(connection, feedback)

    @finished
    async def ratings(self, round_id: str) -> tuple[Feedback, ...]:
        """Give what people think of a round, oldest first."""
        async with transaction(self._readers) as connection:
            return await ratings(connection, round_id)

    @finished
    async def vote(self, vote: HumanVote) -> None:
        """Keep which answer somebody calls the best; of one person's several the newest."""
        async with transaction(self.engine) as connection:
            await kept_vote(connection, vote)

    @finished
    async def votes(self, round_id: str | None = None) -> tuple[HumanVote, ...]:
        """Give what people voted on a round, or on all, oldest first."""
        async with transaction(self._readers) as connection:
            return await votes_on(connection, round_id)

    @finished
    async def ids(self, limit: int | None = None, wanted: Wanted = EVERY) -> tuple[str, ...]:
        """Give the ids of the rounds that are wanted, oldest first."""
        async with transaction(self._readers) as connection:
            found = await connection.execute(ids_query(wanted).limit(limit))
            return tuple(found.scalars().all())

    @finished
    async def forget(self, round_id: str, at: datetime, salt: str) -> bool:
        """Have a round without its texts; give False if they were gone before."""
        async with transaction(self.engine) as connection:
            # Nobody adds to the round meanwhile.
            locked = select(RoundRow).with_for_update()
            before = round_from(*await _found(connection, locked, round_id))
            if before.forgotten:
                return False
            after = forget(before, at, salt)
            own = update(RoundRow).where(col(RoundRow.id) == round_id)
            await connection.execute(own.values(**forgotten_values(after)))
            for table in PARTS:
                await connection.execute(delete(table).where(table.round_id == round_id))
            await _insert_all(connection, part_rows(after))
            await leave_unsaid(connection, round_id)
            await owe(connection)
            return True

    @finished
    async def drop(self, chat: str, workspace: str) -> int:
        """Delete every round that was asked in a workspace; give how many there were."""
        async with transaction(self.engine) as connection:
            await owe(connection)
            return await drop(connection, chat, workspace)

    @finished
    async def wipe(self) -> None:
        """Leave nothing of forgotten texts in the files."""
        with told_kindly():
            await wipe(self.engine)

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
        async with transaction(self._readers) as connection:
            rows = await rows_of(connection, query)
        grouped = groupby(rows, key=lambda row: row["round_id"])
        past: list[Sequence[Ballot]] = []
        for _, ballots in grouped:
            # A round somebody meddled with says nothing of its judges; `verify` names it.
            with suppress(StoreError):
                past.append(tuple(map(past_ballot_from, ballots)))
        return tuple(past)


async def _found(
    connection: AsyncConnection,
    rounds: Any,  # noqa: ANN401
    round_id: str,
) -> tuple[dict[str, Any], Parts]:
    """Give the rows of a round, its own first."""
    own = await rows_of(connection, rounds.where(col(RoundRow.id) == round_id))
    if not own:
        raise unknown(round_id)
    parts = {
        table: await rows_of(connection, select(table).where(table.round_id == round_id))
        for table in PARTS
    }
    return own[0], Parts(parts)


async def _check_remembered(connection: AsyncConnection, round_id: str) -> None:
    """Raise ForgottenError for a forgotten round; it cannot be forgotten before the end of this."""
    query = select(col(RoundRow.forgotten_at)).where(col(RoundRow.id) == round_id)
    at = (await connection.execute(query.with_for_update(read=True))).scalar_one_or_none()
    if at:
        raise refusal(round_id, at)


async def _keep(connection: AsyncConnection, round_id: str, artefact: Artefact) -> None:
    if isinstance(artefact, Closing):
        await connection.execute(_close(round_id, artefact))
        return
    # With the first row's key taken, the artefact is kept already.
    first, *others = artefact_rows(artefact, round_id)
    if await insert(connection, [first]):
        await _insert_all(connection, others)


async def _insert_all(connection: AsyncConnection, rows: Iterable[SQLModel]) -> None:
    """Insert rows of any tables, a statement for each run of one table."""
    for _, alike in groupby(rows, key=type):
        await insert(connection, [*alike])


def _close(round_id: str, closing: Closing) -> Any:  # noqa: ANN401
    row = update(RoundRow).where(col(RoundRow.id) == round_id, col(RoundRow.seconds).is_(None))
    return row.values(**closing_values(closing))
