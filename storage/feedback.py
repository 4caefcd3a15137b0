"""Store of people's feedback and votes on rounds: one row for each round and person."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import SQLModel, col

from council.feedback import Feedback, HumanVote, settle_vote
from council.integrity.erasure import check_feedback_allowed
from storage.engine import SqlStore
from storage.queries import round_not_found
from storage.tables import FeedbackRow, HumanVoteRow, RoundRow, VerdictRow, by_letter
from storage.transactions import insert_into, retried_and_shielded

_ROUND_ID: Any = col(FeedbackRow.round_id)


class SqlFeedback(SqlStore):
    """The part of the round store with people's feedback and votes."""

    @retried_and_shielded
    async def rate(self, feedback: Feedback) -> None:
        """Store a person's feedback on a round; the newest of each person counts."""
        async with self._write() as connection:
            forgotten_at = await _lock_round(connection, feedback.round_id)
            check_feedback_allowed(feedback, forgotten_at)
            await _upsert_newest(connection, FeedbackRow, feedback)

    @retried_and_shielded
    async def ratings(self, round_id: str) -> tuple[Feedback, ...]:
        """Return the feedback on a round, oldest first."""
        oldest_first = (col(FeedbackRow.at), by_letter(FeedbackRow.by))
        query = select(FeedbackRow).where(round_id == _ROUND_ID).order_by(*oldest_first)
        return tuple(Feedback(**row) for row in await self._fetch(query))

    @retried_and_shielded
    async def vote(
        self, vote: HumanVote, *, imported: bool = False, hides_result: bool = False
    ) -> HumanVote:
        """Store a person's vote on a round as `settle_vote` says; return what is stored."""
        async with self._write() as connection:
            # Locked against the artefacts of the round: its result comes before or after.
            state = (await connection.execute(_VOTED, {"round_id": vote.round_id})).one_or_none()
            if state is None:
                raise round_not_found(vote.round_id)
            is_own = {"round_id": vote.round_id, "by": vote.by}
            found = (await connection.execute(_EARLIER, is_own)).mappings().one_or_none()
            tallied = (await connection.execute(_TALLIED, {"round_id": vote.round_id})).first()
            stored = settle_vote(
                vote,
                _vote_from_row(dict(found)) if found else None,
                has_result=bool(tallied) or state.seconds is not None or imported,
                hides_result=bool(state.bakeoff) or imported or hides_result,
            )
            await _upsert_newest(connection, HumanVoteRow, stored)
            return stored

    @retried_and_shielded
    async def votes(
        self, round_id: str | None = None, *, bakeoff: str | None = None
    ) -> tuple[HumanVote, ...]:
        """Return the votes on a round, on the rounds of a bake-off or on all, oldest first."""
        query = select(HumanVoteRow).order_by(
            col(HumanVoteRow.at), by_letter(HumanVoteRow.round_id), by_letter(HumanVoteRow.by)
        )
        if round_id is not None:
            query = query.where(col(HumanVoteRow.round_id) == round_id)
        if bakeoff is not None:
            own = select(col(RoundRow.id)).where(col(RoundRow.bakeoff) == bakeoff)
            query = query.where(col(HumanVoteRow.round_id).in_(own))
        return tuple(map(_vote_from_row, await self._fetch(query)))


_IS_ROUND = col(RoundRow.id) == bindparam("round_id")
_VOTED = select(col(RoundRow.seconds), col(RoundRow.bakeoff)).where(_IS_ROUND).with_for_update()
_TALLIED = select(col(VerdictRow.round_id)).where(col(VerdictRow.round_id) == bindparam("round_id"))
_EARLIER = select(HumanVoteRow).where(
    col(HumanVoteRow.round_id) == bindparam("round_id"), col(HumanVoteRow.by) == bindparam("by")
)


def _vote_from_row(row: Mapping[str, Any]) -> HumanVote:
    return HumanVote(**{**row, "ranking": tuple(map(tuple, row["ranking"]))})


async def clear_reasons(connection: AsyncConnection, round_id: str) -> None:
    """Delete the texts of the feedback on a round."""
    await connection.execute(update(FeedbackRow).where(round_id == _ROUND_ID).values(reason=""))


async def _lock_round(connection: AsyncConnection, round_id: str) -> datetime | None:
    """Keep a round from being deleted or forgotten meanwhile; return when it was forgotten."""
    query = select(col(RoundRow.forgotten_at)).where(col(RoundRow.id) == round_id)
    row = (await connection.execute(query.with_for_update(read=True))).one_or_none()
    if row is None:
        raise round_not_found(round_id)
    forgotten_at: datetime | None = row.forgotten_at
    return forgotten_at


async def _upsert_newest(
    connection: AsyncConnection, table: type[SQLModel], entry: Feedback | HumanVote
) -> None:
    """Store a person's entry on a round unless their stored one is newer."""
    insert = insert_into(table, connection.dialect.name).values(**asdict(entry))
    await connection.execute(
        insert.on_conflict_do_update(
            index_elements=["round_id", "by"],
            set_={name: insert.excluded[name] for name in asdict(entry)},
            where=insert.excluded.at >= SQLModel.metadata.tables[str(table.__tablename__)].c.at,
        )
    )
