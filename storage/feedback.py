"""Queries for people's feedback and votes on rounds: one row for each round and person."""

from typing import Any

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import col

from council.feedback import Feedback, HumanVote
from council.integrity.erasure import check_feedback_allowed
from storage.queries import round_not_found
from storage.tables import FeedbackRow, HumanVoteRow, RoundRow, by_letter
from storage.transactions import fetch_rows, insert_into

_ROUND_ID: Any = col(FeedbackRow.round_id)


async def save_rating(connection: AsyncConnection, feedback: Feedback) -> None:
    """Store feedback unless the same person has given newer.

    Raise RoundNotFoundError for an unknown round, and ForgottenError for a reason on a round whose
    texts are forgotten.
    """
    query = select(col(RoundRow.forgotten_at)).where(col(RoundRow.id) == feedback.round_id)
    # Locked, so that the round is not forgotten before this transaction ends.
    row = (await connection.execute(query.with_for_update(read=True))).one_or_none()
    if row is None:
        raise round_not_found(feedback.round_id)
    check_feedback_allowed(feedback, row.forgotten_at)
    await connection.execute(_upsert_rating(feedback, connection.dialect.name))


async def load_ratings(connection: AsyncConnection, round_id: str) -> tuple[Feedback, ...]:
    """Return the feedback on a round, oldest first."""
    oldest_first = (col(FeedbackRow.at), by_letter(FeedbackRow.by))
    query = select(FeedbackRow).where(round_id == _ROUND_ID).order_by(*oldest_first)
    return tuple(Feedback(**row) for row in await fetch_rows(connection, query))


async def clear_reasons(connection: AsyncConnection, round_id: str) -> None:
    """Delete the texts of the feedback on a round."""
    await connection.execute(update(FeedbackRow).where(round_id == _ROUND_ID).values(reason=""))


async def save_vote(connection: AsyncConnection, vote: HumanVote) -> None:
    """Store a vote unless the same person has given a newer one.

    Raise RoundNotFoundError for an unknown round.
    """
    query = select(col(RoundRow.id)).where(col(RoundRow.id) == vote.round_id)
    # Locked, so that the round is not deleted before this transaction ends.
    if (await connection.execute(query.with_for_update(read=True))).one_or_none() is None:
        raise round_not_found(vote.round_id)
    await connection.execute(_upsert_vote(vote, connection.dialect.name))


async def load_votes(connection: AsyncConnection, round_id: str | None) -> tuple[HumanVote, ...]:
    """Return the votes on a round, or on all rounds, oldest first."""
    query = select(HumanVoteRow).order_by(
        col(HumanVoteRow.at), by_letter(HumanVoteRow.round_id), by_letter(HumanVoteRow.by)
    )
    if round_id is not None:
        query = query.where(col(HumanVoteRow.round_id) == round_id)
    return tuple(HumanVote(**row) for row in await fetch_rows(connection, query))


def _upsert_rating(feedback: Feedback, dialect: str) -> Any:  # noqa: ANN401
    insert = insert_into(FeedbackRow, dialect)
    values = {"helpful": feedback.helpful, "reason": feedback.reason, "at": feedback.at}
    upsert = insert.values(round_id=feedback.round_id, by=feedback.by, **values)
    return upsert.on_conflict_do_update(
        index_elements=["round_id", "by"],
        set_=values,
        where=insert.excluded.at >= FeedbackRow.at,
    )


def _upsert_vote(vote: HumanVote, dialect: str) -> Any:  # noqa: ANN401
    insert = insert_into(HumanVoteRow, dialect)
    values = {"label": vote.label, "member": vote.member, "at": vote.at}
    upsert = insert.values(round_id=vote.round_id, by=vote.by, **values)
    return upsert.on_conflict_do_update(
        index_elements=["round_id", "by"],
        set_=values,
        where=insert.excluded.at >= HumanVoteRow.at,
    )
