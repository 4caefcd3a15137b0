"""The rows of one round, found in every table that holds something of it."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import col

from storage.acts import rows_of
from storage.finding import unknown
from storage.reading import PARTS, Parts
from storage.rows import RoundRow


async def found(
    connection: AsyncConnection,
    rounds: Any,  # noqa: ANN401
    round_id: str,
) -> tuple[dict[str, Any], Parts]:
    """Give the rows of a round, its own first, by a query for rounds' own rows."""
    own = await rows_of(connection, rounds.where(col(RoundRow.id) == round_id))
    if not own:
        raise unknown(round_id)
    parts = {
        table: await rows_of(connection, select(table).where(table.round_id == round_id))
        for table in PARTS
    }
    return own[0], Parts(parts)
