"""The round store in a SQL database: a transaction for each artefact, each stored at most once."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime
from itertools import groupby
from typing import Any

from sqlalchemy import bindparam, delete, literal_column, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlmodel import SQLModel, col

from council.answers import LateReply, Scores
from council.ballots import Ballot
from council.budget_caps import Account
from council.errors import StoreError
from council.integrity.erasure import (
    forget,
    forgotten_error,
    quotes,
    redact,
    redact_artefact,
    redact_synthesis,
    repeats,
)
from council.integrity.seal import RoundDigests, Seal
from council.places import Place
from council.ports import ALL_ROUNDS, RoundQuery, RoundSummary
from council.registry import NO_PLUGINS, Registry
from council.rounds import AnswerFindings, Artefact, Closing, Decision, Round, StandIn
from storage.feedback import SqlFeedback, clear_reasons
from storage.hash_chain import (
    append_decision_link,
    append_link,
    imported_entry,
    load_seal,
    new_salt,
)
from storage.hooks import RoundHooks
from storage.key_value import delete_unasked
from storage.ledger import Costs, DeferredCosts, add_costs
from storage.queries import (
    MAX_PAST_ROUNDS,
    fetch_round,
    ids_query,
    match_id,
    quoting_query,
    round_not_found,
    summaries_query,
    summary_from_row,
)
from storage.row_mapping import (
    PANEL,
    PART_TABLES,
    SCORES,
    TABLES,
    artefact_rows,
    decision_row,
    erasure_columns,
    part_rows,
    past_ballot_from_row,
    round_from_rows,
    round_row,
    validate,
)
from storage.tables import (
    AnswerRow,
    BallotRow,
    DecisionRow,
    ExchangeRow,
    LinkRow,
    OutgoingRow,
    RoundRow,
    SpendingRow,
    by_letter,
    starts_with,
)
from storage.transactions import (
    Lock,
    WriteBatcher,
    current_attempt,
    find_shared,
    insert,
    is_own_write,
    lock_exclusive,
    retried_and_shielded,
    translate_errors,
)

TRUNCATE_LOG = "PRAGMA wal_checkpoint(TRUNCATE)"  # returns 1 if a reader prevents it
LOG_IN_USE = (
    "The texts are forgotten, but another program is reading the database, so its log still "
    "holds them. Close that program, then forget the round again."
)


UNSEALED = Seal(RoundDigests("", (), ()), None)


class SqlRoundStore(SqlFeedback):
    """The round store on SQLite and Postgres.

    `hooks` run in the transactions that delete. Loaded rounds get the `registry`. On SQLite,
    costs that a ledger has `deferred` are stored with the replies that they paid for.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        hooks: Iterable[RoundHooks] = (),
        registry: Registry = NO_PLUGINS,
    ) -> None:
        super().__init__(engine)
        self.deferred = DeferredCosts()
        self._registry = registry
        self._saves = WriteBatcher(self._save)
        self._hooks = hooks

    @retried_and_shielded
    async def open(self, round_: Round) -> bool:
        """Store a new round with all its artefacts; return False if its id is taken."""
        return await self._insert_round(round_, None)

    @retried_and_shielded
    async def import_round(self, round_: Round, seal: Seal | None) -> bool:
        """Store a round from elsewhere, as `open` does, with the seal it has there."""
        return await self._insert_round(round_, seal)

    async def _insert_round(self, round_: Round, seal: Seal | None) -> bool:
        async with self._write() as connection:
            row = round_row(round_)
            if not await insert(connection, [row]):
                return await is_own_write(connection, row, ("asked_at", "seed", "asked_by"))
            await _insert_all(connection, part_rows(round_))
            sources = await _fetch_forgotten(connection, round_.question.quotes or ())
            if sources and not round_.closing:  # its texts would be sent to models
                raise forgotten_error(sources[0].id, sources[0].at)
            if round_.closing:
                salt, origin = imported_entry(round_, seal)
                await append_link(connection, round_.id, salt=salt, origin=origin)
                for number in range(1, len(round_.decisions) + 1):
                    known = seal or UNSEALED
                    await append_decision_link(connection, round_.id, number, imported=known)
            for source in sources:
                before = round_from_rows(*await fetch_round(connection, source.id))
                await _redact(connection, round_.id, before, source.at)
            return True

    @retried_and_shielded
    async def save(self, round_id: str, *artefacts: Artefact) -> None:
        """Store artefacts of a round once; simultaneous saves share a transaction."""
        if find_shared(self.engine):
            await self._save([(round_id, artefacts)])
        else:
            await self._saves.add((round_id, artefacts))

    async def _save(self, batch: Sequence[tuple[str, Sequence[Artefact]]]) -> None:
        """Store a batch, and with it the costs of its rounds that wait."""
        costs: list[tuple[Account, Costs]] = []
        if self.engine.dialect.name == "sqlite":  # on Postgres a reply must wait for no account
            costs = [cost for id_ in {id_ for id_, _ in batch} for cost in self.deferred.take(id_)]
        try:
            await self._save_with_costs(batch, costs)
        except BaseException:
            for account, waiting in costs:
                self.deferred.add(account, *waiting)
            raise

    async def _save_with_costs(
        self,
        batch: Sequence[tuple[str, Sequence[Artefact]]],
        costs: Sequence[tuple[Account, Costs]],
    ) -> None:
        saves = [(round_id, artefact) for round_id, artefacts in batch for artefact in artefacts]
        async with self._write() as connection:
            closing = {id_ for id_, artefact in saves if isinstance(artefact, Closing)}
            if len(closing) > 1:  # links of two chains, in any order, could deadlock
                await lock_exclusive(connection, Lock.LINKS)
            # Sorted, so that no two transactions deadlock.
            ids = sorted({round_id for round_id, _ in saves})
            states = {
                round_id: await _lock_state(connection, round_id, is_closing=round_id in closing)
                for round_id in ids
            }
            accepted = []
            for round_id, artefact in saves:
                state = states[round_id]
                if not (state and state.is_closed) or isinstance(artefact, LateReply):
                    kept = redact_artefact(artefact) if state and state.redacted else artefact
                    accepted.append((round_id, kept))
            for kind, same_kind in groupby(accepted, key=lambda save: type(save[1])):
                if kind in TABLES:  # one row each: all of them in one statement
                    rows = (
                        row for id_, artefact in same_kind for row in artefact_rows(artefact, id_)
                    )
                    await _insert_all(connection, rows)
                    continue
                for round_id, artefact in same_kind:
                    await _insert_artefact(connection, round_id, artefact)
            for round_id in ids:
                state = states[round_id]
                if round_id in closing and state and not state.is_closed:
                    await append_link(connection, round_id, new_salt())
            for account, spent in costs:
                await add_costs(connection, account, spent)

    @retried_and_shielded
    async def decide(self, round_id: str, decision: Decision, number: int) -> bool:
        """Store the `number`th decision on a closed round; return False if there is another."""
        async with self._write() as connection:
            # Locked, so that nobody forgets the round or decides meanwhile.
            state = await _lock_state(connection, round_id, is_closing=True)
            if state is None:
                raise round_not_found(round_id)
            if state.redacted:
                decision = replace(decision, synthesis=redact_synthesis(decision.synthesis))
            row = decision_row(decision, round_id, number)
            if not await insert(connection, [row]):
                return await is_own_write(connection, row, ("key",))
            await append_decision_link(connection, round_id, number)
            return True

    @retried_and_shielded
    async def list_decided(self, chat: str, by: str, since: datetime) -> tuple[datetime, ...]:
        """Return when somebody decided on rounds of a chat, from `since` on."""
        is_of = col(RoundRow.id) == col(DecisionRow.round_id)
        query = select(col(DecisionRow.at)).join(RoundRow, is_of)
        wanted = (
            col(RoundRow.chat) == chat,
            col(DecisionRow.by) == by,
            col(DecisionRow.at) >= since,
        )
        return tuple(await self._fetch_column(query.where(*wanted)))

    @retried_and_shielded
    async def load(self, round_id: str) -> Round:
        """Return a round in panel order; raise RoundNotFoundError."""
        async with self._read() as connection:
            rows = await fetch_round(connection, round_id)
        return replace(round_from_rows(*rows), registry=self._registry)

    @retried_and_shielded
    async def seal(self, round_id: str) -> Seal | None:
        """Return the digests of a closed round and its hash chain link; None without them."""
        async with self._read() as connection:
            return await load_seal(connection, round_id)

    @retried_and_shielded
    async def find(self, start: str) -> str:
        """Return the one round id that starts with `start`; raise RoundNotFoundError."""
        query = select(col(RoundRow.id)).where(starts_with(RoundRow.id, start))
        return match_id(start, await self._fetch_column(query))

    @retried_and_shielded
    async def list_summaries(
        self, limit: int | None = None, wanted: RoundQuery = ALL_ROUNDS
    ) -> tuple[RoundSummary, ...]:
        """Return the summaries of the wanted rounds, newest first."""
        query = summaries_query(wanted).limit(limit)
        async with self._read() as connection:
            rows = (await connection.execute(query)).all()
        return tuple(map(summary_from_row, rows))

    @retried_and_shielded
    async def load_summary(self, round_id: str) -> RoundSummary:
        """Return the summary of a round; raise RoundNotFoundError."""
        async with self._read() as connection:
            row = (await connection.execute(_SUMMARY, {"round_id": round_id})).one_or_none()
        if row is None:
            raise round_not_found(round_id)
        return summary_from_row(row)

    @retried_and_shielded
    async def pause(self, round_id: str, *, paused: bool) -> None:
        """Mark a round as paused on purpose, or as resumed."""
        await self._set(round_id, paused=paused)

    @retried_and_shielded
    async def deliver(self, round_id: str, *, delivered: bool) -> None:
        """Mark a round as delivered to its place, or as undelivered."""
        await self._set(round_id, delivered=delivered)

    async def _set(self, round_id: str, **flag: bool) -> None:
        await self._execute(update(RoundRow).where(col(RoundRow.id) == round_id).values(**flag))

    @retried_and_shielded
    async def ids(
        self, limit: int | None = None, wanted: RoundQuery = ALL_ROUNDS
    ) -> tuple[str, ...]:
        """Return the ids of the wanted rounds, oldest first."""
        return tuple(await self._fetch_column(ids_query(wanted).limit(limit)))

    @retried_and_shielded
    async def forget(self, round_id: str, at: datetime, salt: str) -> bool:
        """Delete the texts of a round; return False if they were deleted before."""
        async with self._write() as connection:
            # Locked, so that nobody adds to the round meanwhile.
            row, parts = await fetch_round(connection, round_id, lock=True)
            before = round_from_rows(row, parts)
            if before.forgotten:
                return current_attempt().is_retry and before.forgotten.at == at
            quoting_rounds = await _fetch_quoting(connection, before)
            await _store_erasure(connection, forget(before, at, row["salt"] or salt))
            await clear_reasons(connection, round_id)
            await delete_unasked(connection, round_id)
            for quoting in quoting_rounds:
                await _redact(connection, quoting.id, before, at)
            for hooks in self._hooks:
                await hooks.forget(connection, round_id)
            await _request_wipe(connection)
            return True

    @retried_and_shielded
    async def list_quoting(self, round_id: str) -> tuple[str, ...]:
        """Return who asked each round that loses texts when a round is forgotten."""
        async with self._read() as connection:
            source = round_from_rows(*await fetch_round(connection, round_id))
            quoting_rounds = await _fetch_quoting(connection, source)
        return tuple(quoting.question.asked_by for quoting in quoting_rounds)

    @retried_and_shielded
    async def delete_workspace(self, chat: str, workspace: str) -> int:
        """Delete a workspace's rounds with all that belongs to them; return how many there were.

        Delete its hash chain too, and what the hooks delete.
        """
        async with self._write() as connection:
            await _request_wipe(connection)
            # Locked, so that nobody starts to use a suite or source that is deleted as unused.
            await lock_exclusive(connection, Lock.SHARED_ROWS)
            rounds = (col(RoundRow.chat) == chat, col(RoundRow.workspace) == workspace)
            # The money remains spent, but by nobody.
            of_rounds = select(col(RoundRow.id)).where(*rounds)
            decided = select(col(DecisionRow.key)).where(col(DecisionRow.round_id).in_(of_rounds))
            for ids in (of_rounds, decided):
                spent = col(SpendingRow.round_id).in_(ids)
                await connection.execute(update(SpendingRow).where(spent).values(asker=""))
            sent = col(OutgoingRow.round_id).in_(of_rounds)
            await connection.execute(delete(OutgoingRow).where(sent))
            for hooks in self._hooks:
                await hooks.delete_workspace(connection, chat, workspace)
            # The scope "" is shared by all workspaces and remains.
            if scope := Place(chat, workspace).scope:
                await connection.execute(delete(LinkRow).where(col(LinkRow.scope) == scope))
            deleted: Any = delete(RoundRow).where(*rounds).returning(literal_column("1"))
            count = len((await connection.execute(deleted)).all())
            for hooks in self._hooks:
                await hooks.delete_unused(connection)
            return count

    @retried_and_shielded
    async def wipe(self) -> None:
        """Remove what deleted texts have left in the database's files."""
        with translate_errors():
            await wipe_if_requested(self.engine)

    @retried_and_shielded
    async def load_past_ballots(self, panel: str) -> tuple[Sequence[Ballot], ...]:
        """Return the counted ballots of a panel's last closed rounds, without exchanges."""
        last_rounds = (
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
                col(BallotRow.pass_number),
            )
            .where(col(BallotRow.round_id).in_(last_rounds), col(BallotRow.audit) == "")
            .order_by(by_letter(BallotRow.round_id), by_letter(BallotRow.judge))
        )
        rows = await self._fetch(query)
        past: list[Sequence[Ballot]] = []
        for _, ballots in groupby(rows, key=lambda row: row["round_id"]):
            # A round that was tampered with is left out; `verify` names it.
            with suppress(StoreError):
                past.append(tuple(map(past_ballot_from_row, ballots)))
        return tuple(past)

    @retried_and_shielded
    async def list_scores(self, bakeoff: str, kind: str) -> tuple[tuple[Scores, ...], ...]:
        """Return the scores of a bake-off's readable exchanges of a kind, for each round."""
        round_id = col(ExchangeRow.round_id)
        rounds = select(col(RoundRow.id)).where(col(RoundRow.bakeoff) == bakeoff)
        query = select(round_id, col(ExchangeRow.scores)).where(
            round_id.in_(rounds), col(ExchangeRow.kind) == kind, col(ExchangeRow.fault) == ""
        )
        rows = await self._fetch(query.order_by(by_letter(round_id), by_letter(ExchangeRow.seat)))
        return tuple(
            tuple(validate("scores", SCORES.validate_python, row["scores"]) for row in same_round)
            for _, same_round in groupby(rows, key=lambda row: row["round_id"])
        )


_IS_ROUND = col(RoundRow.id) == bindparam("round_id")
_SUMMARY = summaries_query(ALL_ROUNDS).where(_IS_ROUND)
_STATE_TO_CLOSE = (
    select(
        col(RoundRow.forgotten_at),
        col(RoundRow.seconds).is_not(None).label("is_closed"),
        col(RoundRow.redacted),
    )
    .where(_IS_ROUND)
    .with_for_update()
)
_STATE = _STATE_TO_CLOSE.with_for_update(read=True)


async def _lock_state(connection: AsyncConnection, round_id: str, *, is_closing: bool) -> Any:  # noqa: ANN401
    """Return whether a round is closed and redacted; None if there is none. Raise ForgottenError.

    The row is locked: until the transaction ends, nobody else closes or forgets the round, and if
    this transaction `is_closing` it, nobody adds to it.
    """
    query = _STATE_TO_CLOSE if is_closing else _STATE
    row = (await connection.execute(query, {"round_id": round_id})).one_or_none()
    if row and row.forgotten_at:
        raise forgotten_error(round_id, row.forgotten_at)
    return row


async def _fetch_forgotten(connection: AsyncConnection, ids: Sequence[str]) -> Sequence[Any]:
    """Return id and time of those of these rounds that are forgotten; none is until the end."""
    if not ids:
        return ()
    query: Any = select(col(RoundRow.id), col(RoundRow.forgotten_at).label("at"))
    rows = await connection.execute(
        query.where(col(RoundRow.id).in_(ids)).with_for_update(read=True)
    )
    return [row for row in rows if row.at]


async def _fetch_quoting(connection: AsyncConnection, source: Round) -> list[Round]:
    """Return each remembered round that quotes a round, at any distance."""
    quoting: dict[str, Round] = {}
    # Rounds that note no quotes are found by the texts that they have of a round that they follow.
    sources = [(source, True)]
    for one, by_text in sources:
        ids = await connection.execute(quoting_query(one, by_text=by_text))
        for round_id in ids.scalars().all():
            if round_id not in {source.id, *quoting}:
                later = round_from_rows(*await fetch_round(connection, round_id))
                if quotes(later, one):
                    quoting[round_id] = later
                    sources.append((later, repeats(later, source)))
    return [*quoting.values()]


async def _redact(connection: AsyncConnection, round_id: str, source: Round, at: datetime) -> None:
    """Erase from a round what it quotes of another."""
    # Locked, so that nobody adds to the round meanwhile.
    row, parts = await fetch_round(connection, round_id, lock=True)
    redacted = redact(round_from_rows(row, parts), source, at, row["salt"] or new_salt())
    await _store_erasure(connection, redacted)


async def _store_erasure(connection: AsyncConnection, round_: Round) -> None:
    """Store a round anew, without the texts that were erased."""
    columns = erasure_columns(round_)
    if not (round_.question.text or round_.closing or round_.forgotten):
        columns["paused"] = True  # it cannot be resumed
    statement = update(RoundRow).where(col(RoundRow.id) == round_.id)
    await connection.execute(statement.values(**columns))
    for table in PART_TABLES:
        await connection.execute(delete(table).where(table.round_id == round_.id))
    await _insert_all(connection, part_rows(round_))


async def _insert_artefact(connection: AsyncConnection, round_id: str, artefact: Artefact) -> None:
    if isinstance(artefact, Closing):
        unclosed = (col(RoundRow.id) == round_id, col(RoundRow.seconds).is_(None))
        statement = update(RoundRow).where(*unclosed).values(**asdict(artefact))
        await connection.execute(statement)
        return
    if isinstance(artefact, StandIn):
        panel = PANEL.dump_python(artefact.panel, mode="json")
        statement = update(RoundRow).where(col(RoundRow.id) == round_id).values(panel=panel)
        await connection.execute(statement)
        return
    if isinstance(artefact, AnswerFindings):
        findings = {"scrubbed": [*artefact.scrubbed], "suspicions": [*artefact.suspicions]}
        is_answer = col(AnswerRow.round_id) == round_id, col(AnswerRow.member) == artefact.member
        await connection.execute(update(AnswerRow).where(*is_answer).values(**findings))
        return
    # If the key of the first row is taken, the artefact is stored already.
    first, *others = artefact_rows(artefact, round_id)
    if await insert(connection, [first]):
        await _insert_all(connection, others)


async def _insert_all(connection: AsyncConnection, rows: Iterable[SQLModel]) -> None:
    """Insert rows of any tables, with one statement for each run of rows of one table."""
    for _, same_table in groupby(rows, key=type):
        await insert(connection, [*same_table])


async def _request_wipe(connection: AsyncConnection) -> None:
    """Mark SQLite's file, in the transaction that deletes texts, for the next wipe."""
    if connection.dialect.name == "sqlite":
        await connection.exec_driver_sql("PRAGMA user_version = 1")


async def wipe_if_requested(engine: AsyncEngine) -> None:
    """Rewrite SQLite's file and empty its log if marked; raise StoreError while others read it."""
    if engine.dialect.name != "sqlite":
        return
    async with engine.connect() as connection:
        # None of this can run in a transaction, and SQLAlchemy would begin one.
        driver: Any = (await connection.get_raw_connection()).driver_connection
        if not await _fetch_int(driver, "PRAGMA user_version"):
            return
        await _fetch_int(driver, "VACUUM")
        if await _fetch_int(driver, TRUNCATE_LOG):
            raise StoreError(LOG_IN_USE)
        await _fetch_int(driver, "PRAGMA user_version = 0")


async def _fetch_int(driver: Any, statement: str) -> int:  # noqa: ANN401
    """Return the number in the first column of the first row; 0 without rows."""
    cursor = await driver.execute(statement)
    row = await cursor.fetchone()
    await cursor.close()
    return int(row[0]) if row else 0
