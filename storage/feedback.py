"""What people think of rounds, in a SQL database: a row for each round and person."""

from typing import Any

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import col

from council.feedback import Feedback, HumanVote
from council.integrity.erasure import check_wordless
from storage.queries import round_not_found
from storage.tables import FeedbackRow, HumanVoteRow, RoundRow, by_letter
from storage.transactions import fetch_rows, insert_into

# --- What people think of rounds, in a SQL database: a row for each round and person.

_ID: Any = col(FeedbackRow.round_id)


async def save_rating(connection: AsyncConnection, feedback: Feedback) -> None:
    """Keep feedback unless the same person gave newer."""
    own = select(col(RoundRow.forgotten_at)).where(col(RoundRow.id) == feedback.round_id)
    # The round is not forgotten before the end of this.
    found = (await connection.execute(own.with_for_update(read=True))).one_or_none()
    if found is None:
        raise round_not_found(feedback.round_id)
    check_wordless(feedback, found.forgotten_at)
    await connection.execute(_upsert_rating(feedback, connection.dialect.name))


def _upsert_rating(feedback: Feedback, dialect: str) -> Any:  # noqa: ANN401
    """Give the insert that changes what the same person said before."""
    insert = insert_into(FeedbackRow, dialect)
    said = {"helpful": feedback.helpful, "reason": feedback.reason, "at": feedback.at}
    return insert.values(round_id=feedback.round_id, by=feedback.by, **said).on_conflict_do_update(
        index_elements=["round_id", "by"], set_=said, where=insert.excluded.at >= FeedbackRow.at
    )


async def load_ratings(connection: AsyncConnection, round_id: str) -> tuple[Feedback, ...]:
    """Give what people think of a round, oldest first."""
    oldest_first = (col(FeedbackRow.at), by_letter(FeedbackRow.by))
    query = select(FeedbackRow).where(round_id == _ID).order_by(*oldest_first)
    return tuple(Feedback(**row) for row in await fetch_rows(connection, query))


async def clear_reasons(connection: AsyncConnection, round_id: str) -> None:
    """Remove the reasons of what people think of a round."""
    await connection.execute(update(FeedbackRow).where(round_id == _ID).values(reason=""))


# --- Which answers people call the best, in a SQL database: a row for each round and person.

_OLDEST_FIRST = (
    col(HumanVoteRow.at),
    by_letter(HumanVoteRow.round_id),
    by_letter(HumanVoteRow.by),
)


async def save_vote(connection: AsyncConnection, given: HumanVote) -> None:
    """Keep a vote unless the same person gave a newer one."""
    own = select(col(RoundRow.id)).where(col(RoundRow.id) == given.round_id)
    # The round is not dropped before the end of this.
    if (await connection.execute(own.with_for_update(read=True))).one_or_none() is None:
        raise round_not_found(given.round_id)
    await connection.execute(_upsert_vote(given, connection.dialect.name))


def _upsert_vote(given: HumanVote, dialect: str) -> Any:  # noqa: ANN401
    """Give the insert that changes what the same person voted before."""
    insert = insert_into(HumanVoteRow, dialect)
    said = {"label": given.label, "member": given.member, "at": given.at}
    return insert.values(round_id=given.round_id, by=given.by, **said).on_conflict_do_update(
        index_elements=["round_id", "by"], set_=said, where=insert.excluded.at >= HumanVoteRow.at
    )


async def load_votes(connection: AsyncConnection, round_id: str | None) -> tuple[HumanVote, ...]:
    """Give the votes on a round, or on all of them, oldest first."""
    query = select(HumanVoteRow).order_by(*_OLDEST_FIRST)
    if round_id is not None:
        query = query.where(col(HumanVoteRow.round_id) == round_id)
    return tuple(HumanVote(**row) for row in await fetch_rows(connection, query))
