"""What deleted text leaves in SQLite's files, and its end."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import groupby
from typing import Any

from sqlalchemy import delete, func, literal_column, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlmodel import SQLModel, col

from council.ballots import Ballot
from council.errors import StoreError
from council.feedback import Feedback, HumanVote
from council.integrity.erasure import forget, refusal
from council.integrity.seal import Seal
from council.places import Place
from council.ports import EVERY, RoundQuery, RoundSummary
from council.rounds import Artefact, Closing, Round
from storage.bakeoff_tables import BakeoffRow, ScheduleRow, SuiteRow
from storage.bakeoffs import delete_unused_bodies
from storage.engine import read_only_engine
from storage.feedback import clear_reasons, load_ratings, save_rating
from storage.feedback import load_votes as votes_on
from storage.feedback import save_vote as kept_vote
from storage.hash_chain import (
    ChainEntry,
    SaltFactory,
    append_link,
    imported_entry,
    load_seal,
    new_salt,
)
from storage.queries import (
    MAX_PAST_ROUNDS,
    fetch_round,
    ids_query,
    match_id,
    round_not_found,
    summaries_query,
    summary_from_row,
    summary_query,
)
from storage.records import delete_unused_sources
from storage.row_mapping import (
    PART_TABLES,
    artefact_rows,
    closing_columns,
    forgotten_columns,
    part_rows,
    past_ballot_from_row,
    round_from_rows,
    round_row,
)
from storage.tables import BallotRow, LinkRow, OutgoingRow, RoundRow, SpendingRow, by_letter
from storage.transactions import (
    Lock,
    WriteBatcher,
    current_attempt,
    fetch_rows,
    insert,
    is_own_write,
    lock_exclusive,
    retried_and_shielded,
    transaction,
    translate_errors,
)

# --- What deleted text leaves in SQLite's files, and its end.

TRUNCATE_LOG = "PRAGMA wal_checkpoint(TRUNCATE)"  # answers 1 where a reader keeps it from that
LOG_IN_USE = (
    "The texts are forgotten, but another program is reading the database, so its log still holds "
    "them: let that end, and do the same again."
)


async def request_wipe(connection: AsyncConnection) -> None:
    """Take note, within the transaction that deletes, that the files are to be wiped."""
    if connection.dialect.name == "sqlite":
        await connection.exec_driver_sql("PRAGMA user_version = 1")


async def wipe_if_requested(engine: AsyncEngine) -> None:
    """Rewrite the file and empty its log where that is owed; StoreError while others read it."""
    if engine.dialect.name != "sqlite":
        return
    async with engine.connect() as connection:
        # None of this can run in a transaction, so it goes past SQLAlchemy, which begins one.
        driver: Any = (await connection.get_raw_connection()).driver_connection
        if not await _fetch_int(driver, "PRAGMA user_version"):
            return
        await _fetch_int(driver, "VACUUM")
        if await _fetch_int(driver, TRUNCATE_LOG):
            raise StoreError(LOG_IN_USE)
        await _fetch_int(driver, "PRAGMA user_version = 0")


async def _fetch_int(driver: Any, statement: str) -> int:  # noqa: ANN401
    """Give the first number that a statement answers with; 0 where it answers nothing."""
    cursor = await driver.execute(statement)
    found = await cursor.fetchone()
    await cursor.close()
    return int(found[0]) if found else 0


# --- All that a workspace had, deleted. Knows nothing of what the files keep of it.


async def delete_workspace(connection: AsyncConnection, chat: str, workspace: str) -> int:
    """Delete the rounds asked there, with all that belongs to them; give how many.

    The workspace's chain, suites, bake-offs and schedules go too, and what was sent of any of it.
    """
    # Nobody takes up a suite or a source meanwhile that is deleted here as nobody's.
    await lock_exclusive(connection, Lock.SHARED_ROWS)
    rounds, bakeoffs = (_in_workspace(table, chat, workspace) for table in (RoundRow, BakeoffRow))
    # Money belongs to no row of a round: it stays spent, by nobody.
    dropped = col(SpendingRow.round_id).in_(select(col(RoundRow.id)).where(*rounds))
    await connection.execute(update(SpendingRow).where(dropped).values(asker=""))
    sent = (
        select(col(RoundRow.id)).where(*rounds),
        select(col(BakeoffRow.id)).where(*bakeoffs),
    )
    for ids in sent:
        await connection.execute(delete(OutgoingRow).where(col(OutgoingRow.round_id).in_(ids)))
    await connection.execute(delete(BakeoffRow).where(*bakeoffs))
    # What is the house's own never leaves.
    if scope := Place(chat, workspace).scope:
        await connection.execute(delete(LinkRow).where(col(LinkRow.scope) == scope))
        await connection.execute(delete(SuiteRow).where(col(SuiteRow.scope) == scope))
        await connection.execute(delete(ScheduleRow).where(col(ScheduleRow.scope) == scope))
    await delete_unused_bodies(connection)
    gone: Any = delete(RoundRow).where(*rounds).returning(literal_column("1"))
    count = len((await connection.execute(gone)).all())
    await delete_unused_sources(connection)
    return count


def _in_workspace(table: type[Any], chat: str, workspace: str) -> tuple[Any, Any]:
    return col(table.chat) == chat, col(table.workspace) == workspace


# --- Rounds in a SQL database: one transaction for each artefact, each kept at most once.


class SqlStore:
    """Rounds as rows; the same on SQLite and Postgres. Each that closes is given a salt."""

    def __init__(self, engine: AsyncEngine, new_salt: SaltFactory = new_salt) -> None:
        self.engine = engine
        self._new_salt = new_salt
        self._readers = read_only_engine(engine)
        self._saves = WriteBatcher(self._save)

    @retried_and_shielded
    async def open(self, round_: Round) -> bool:
        """Keep a new round with all it holds; give False if its id is kept already."""
        return await self._take_in(round_, None)

    @retried_and_shielded
    async def import_round(self, round_: Round, seal: Seal | None) -> bool:
        """Keep a round as `open` does, with what was noted of it where it closed."""
        return await self._take_in(round_, seal)

    async def _take_in(self, round_: Round, seal: Seal | None) -> bool:
        async with transaction(self.engine) as connection:
            row = round_row(round_)
            if not await insert(connection, [row]):
                return await is_own_write(connection, row, ("asked_at", "seed", "asked_by"))
            await _insert_all(connection, part_rows(round_))
            if round_.closing:
                joining = imported_entry(round_, seal, self._new_salt)
                await append_link(connection, round_.id, joining)
            return True

    @retried_and_shielded
    async def save(self, round_id: str, artefact: Artefact) -> None:
        """Keep what a round has come to, once; what comes together is written together."""
        await self._saves.add((round_id, artefact))

    async def _save(self, saves: Sequence[tuple[str, Artefact]]) -> None:
        async with transaction(self.engine) as connection:
            ending = {id_ for id_, artefact in saves if isinstance(artefact, Closing)}
            if len(ending) > 1:  # of two chains, one may be held by whoever waits for the other
                await lock_exclusive(connection, Lock.LINKS)
            # In one order everywhere, so that no two wait for each other.
            ids = sorted({round_id for round_id, _ in saves})
            is_closed = {
                round_id: await _is_closed(connection, round_id, ends=round_id in ending)
                for round_id in ids
            }
            for round_id, artefact in saves:
                if not is_closed[round_id]:
                    await _insert_artefact(connection, round_id, artefact)
            for round_id in ids:
                if round_id in ending and is_closed[round_id] is False:
                    await append_link(connection, round_id, ChainEntry(self._new_salt()))

    @retried_and_shielded
    async def load(self, round_id: str) -> Round:
        """Give a round with its parts in panel order."""
        async with transaction(self._readers) as connection:
            rows = await fetch_round(connection, select(RoundRow), round_id)
        return round_from_rows(*rows)

    @retried_and_shielded
    async def seal(self, round_id: str) -> Seal | None:
        """Give what was noted of a round as it closed, and its link; None where nothing was."""
        async with transaction(self._readers) as connection:
            return await load_seal(connection, round_id)

    @retried_and_shielded
    async def find(self, start: str) -> str:
        """Give the one round id that starts so."""
        # LIKE would take capitals for small letters on SQLite, and on Postgres not.
        query = select(col(RoundRow.id)).where(func.substr(RoundRow.id, 1, len(start)) == start)
        async with transaction(self._readers) as connection:
            return match_id(start, (await connection.execute(query)).scalars().all())

    @retried_and_shielded
    async def recent(
        self, limit: int | None = None, wanted: RoundQuery = EVERY
    ) -> tuple[RoundSummary, ...]:
        """Give the stored rounds that are wanted, newest first."""
        query = summaries_query(wanted).limit(limit)
        async with transaction(self._readers) as connection:
            rows = (await connection.execute(query)).all()
        return tuple(map(summary_from_row, rows))

    @retried_and_shielded
    async def line(self, round_id: str) -> RoundSummary:
        """Give a round in one line."""
        async with transaction(self._readers) as connection:
            row = (await connection.execute(summary_query(round_id))).one_or_none()
        if row is None:
            raise round_not_found(round_id)
        return summary_from_row(row)

    @retried_and_shielded
    async def pause(self, round_id: str, *, paused: bool) -> None:
        """Note that somebody stopped a round on purpose, or wants it to go on."""
        await self._note(round_id, paused=paused)

    @retried_and_shielded
    async def deliver(self, round_id: str, *, delivered: bool) -> None:
        """Note that all there is to say of a round is in its place, or is not."""
        await self._note(round_id, delivered=delivered)

    async def _note(self, round_id: str, **values: bool) -> None:
        noted = update(RoundRow).where(col(RoundRow.id) == round_id).values(**values)
        async with transaction(self.engine) as connection:
            await connection.execute(noted)

    @retried_and_shielded
    async def rate(self, feedback: Feedback) -> None:
        """Keep what somebody thinks of a round; of one person's several the newest."""
        async with transaction(self.engine) as connection:
            await save_rating(connection, feedback)

    @retried_and_shielded
    async def ratings(self, round_id: str) -> tuple[Feedback, ...]:
        """Give what people think of a round, oldest first."""
        async with transaction(self._readers) as connection:
            return await load_ratings(connection, round_id)

    @retried_and_shielded
    async def vote(self, vote: HumanVote) -> None:
        """Keep which answer somebody calls the best; of one person's several the newest."""
        async with transaction(self.engine) as connection:
            await kept_vote(connection, vote)

    @retried_and_shielded
    async def votes(self, round_id: str | None = None) -> tuple[HumanVote, ...]:
        """Give what people voted on a round, or on all, oldest first."""
        async with transaction(self._readers) as connection:
            return await votes_on(connection, round_id)

    @retried_and_shielded
    async def ids(self, limit: int | None = None, wanted: RoundQuery = EVERY) -> tuple[str, ...]:
        """Give the ids of the rounds that are wanted, oldest first."""
        async with transaction(self._readers) as connection:
            ids = await connection.execute(ids_query(wanted).limit(limit))
            return tuple(ids.scalars().all())

    @retried_and_shielded
    async def forget(self, round_id: str, at: datetime, salt: str) -> bool:
        """Have a round without its texts; give False if they were gone before."""
        async with transaction(self.engine) as connection:
            # Nobody adds to the round meanwhile.
            locked = select(RoundRow).with_for_update()
            row, parts = await fetch_round(connection, locked, round_id)
            before = round_from_rows(row, parts)
            if before.forgotten:
                return current_attempt().is_retry and before.forgotten.at == at
            after = forget(before, at, row["salt"] or salt)
            own = update(RoundRow).where(col(RoundRow.id) == round_id)
            await connection.execute(own.values(**forgotten_columns(after)))
            for table in PART_TABLES:
                await connection.execute(delete(table).where(table.round_id == round_id))
            await _insert_all(connection, part_rows(after))
            await clear_reasons(connection, round_id)
            await request_wipe(connection)
            return True

    @retried_and_shielded
    async def drop(self, chat: str, workspace: str) -> int:
        """Delete every round that was asked in a workspace; give how many there were."""
        async with transaction(self.engine) as connection:
            await request_wipe(connection)
            return await delete_workspace(connection, chat, workspace)

    @retried_and_shielded
    async def wipe(self) -> None:
        """Leave nothing of forgotten texts in the files."""
        with translate_errors():
            await wipe_if_requested(self.engine)

    @retried_and_shielded
    async def past_ballots(self, panel: str) -> tuple[Sequence[Ballot], ...]:
        """Give the counted ballots of the panel's last closed rounds, without their papers."""
        last = (
            select(col(RoundRow.id))
            .where(col(RoundRow.panel_name) == panel, col(RoundRow.seconds).is_not(None))
            .order_by(col(RoundRow.asked_at).desc(), by_letter(RoundRow.id))
            .limit(MAX_PAST_ROUNDS)
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
            .order_by(by_letter(BallotRow.round_id), by_letter(BallotRow.judge))
        )
        async with transaction(self._readers) as connection:
            rows = await fetch_rows(connection, query)
        grouped = groupby(rows, key=lambda row: row["round_id"])
        past: list[Sequence[Ballot]] = []
        for _, ballots in grouped:
            # A round somebody meddled with says nothing of its judges; `verify` names it.
            with suppress(StoreError):
                past.append(tuple(map(past_ballot_from_row, ballots)))
        return tuple(past)


async def _is_closed(connection: AsyncConnection, round_id: str, *, ends: bool) -> bool | None:
    """Say whether a round is at its end, None of one there is not; ForgottenError where it is gone.

    It is neither closed nor forgotten by others before the end of this; nor is anything added
    where this `ends` it.
    """
    query = select(col(RoundRow.forgotten_at), col(RoundRow.seconds))
    own = query.where(col(RoundRow.id) == round_id).with_for_update(read=not ends)
    row = (await connection.execute(own)).one_or_none()
    if row and row.forgotten_at:
        raise refusal(round_id, row.forgotten_at)
    return row and row.seconds is not None


async def _insert_artefact(connection: AsyncConnection, round_id: str, artefact: Artefact) -> None:
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
    return row.values(**closing_columns(closing))
