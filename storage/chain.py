"""The chains of closed rounds, read a stretch at a time."""

from sqlalchemy import and_, func, select
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlmodel import col

from council.integrity.hash_chain import KeptLink, Link
from storage.acts import rows_of, transaction
from storage.database import for_reading
from storage.finishing import finished
from storage.linking import HELD, link_from
from storage.ordering import by_letter
from storage.rows import LinkRow, RoundRow
from storage.valid import told_by_field


class SqlChain:
    """The chains of a database, one a scope."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._readers = for_reading(engine)

    @finished
    async def heads(self) -> tuple[Link, ...]:
        """Give the last link of every chain, by scope."""
        last = select(col(LinkRow.scope), func.max(col(LinkRow.number)).label("number"))
        heads = last.group_by(col(LinkRow.scope)).subquery()
        scope, number = col(LinkRow.scope), col(LinkRow.number)
        is_head = and_(scope == heads.c.scope, number == heads.c.number)
        query = select(*map(col, HELD)).join(heads, is_head).order_by(by_letter(scope))
        async with transaction(self._readers) as connection:
            rows = await rows_of(connection, query)
        with told_by_field("Chain", "heads"):
            return tuple(map(link_from, rows))

    @finished
    async def links(self, scope: str, after: int | None, limit: int) -> tuple[KeptLink, ...]:
        """Give the links of a chain that come after a number, in order, so many at most.

        Without a number, from the first on.
        """
        has_round = col(RoundRow.id).is_not(None).label("has_round")
        is_round = col(RoundRow.id) == col(LinkRow.round_id)
        query = (
            select(*map(col, HELD), has_round)
            .join(RoundRow, is_round, isouter=True)
            .where(col(LinkRow.scope) == scope)
            .order_by(col(LinkRow.number))
            .limit(limit)
        )
        if after is not None:
            query = query.where(col(LinkRow.number) > after)
        async with transaction(self._readers) as connection:
            rows = await rows_of(connection, query)
        with told_by_field("Chain", scope):
            return tuple(KeptLink(link_from(row), bool(row.pop("has_round"))) for row in rows)
