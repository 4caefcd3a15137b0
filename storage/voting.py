"""Which answers people call the best, in a SQL database: a row for each round and person."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import col

from council.feedback import HumanVote
from storage.acts import insert_into, rows_of
from storage.finding import unknown
from storage.ordering import by_letter
from storage.rows import HumanVoteRow, RoundRow

_OLDEST_FIRST = (
    col(HumanVoteRow.at),
    by_letter(HumanVoteRow.round_id),
    by_letter(HumanVoteRow.by),
)


async def vote(connection: AsyncConnection, given: HumanVote) -> None:
    """Keep a vote unless the same person gave a newer one."""
    own = select(col(RoundRow.id)).where(col(RoundRow.id) == given.round_id)
    # The round is not dropped before the end of this.
    if (await connection.execute(own.with_for_update(read=True))).one_or_none() is None:
        raise unknown(given.round_id)
    await connection.execute(voting(given, connection.dialect.name))


def voting(given: HumanVote, dialect: str) -> Any:  # noqa: ANN401
    """Give the insert that changes what the same person voted before."""
    insert = insert_into(HumanVoteRow, dialect)
    said = {"label": given.label, "member": given.member, "at": given.at}
    return insert.values(round_id=given.round_id, by=given.by, **said).on_conflict_do_update(
        index_elements=["round_id", "by"], set_=said, where=insert.excluded.at >= HumanVoteRow.at
    )


async def votes(connection: AsyncConnection, round_id: str | None) -> tuple[HumanVote, ...]:
    """Give the votes on a round, or on all of them, oldest first."""
    query = select(HumanVoteRow).order_by(*_OLDEST_FIRST)
    if round_id is not None:
        query = query.where(col(HumanVoteRow.round_id) == round_id)
    return tuple(HumanVote(**row) for row in await rows_of(connection, query))
