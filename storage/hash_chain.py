"""What every store agrees on when a round joins its chain: its salt, and where it comes from."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import and_, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlmodel import col

from council.digests import Digests
from council.integrity.hash_chain import ELSEWHERE, Link, StoredLink, appended
from council.integrity.seal import RoundDigests, Seal, noted
from council.rounds import Round
from storage.engine import read_only_engine
from storage.queries import fetch_round
from storage.row_mapping import DIGESTS, round_from_rows, translate_validation_errors, validate
from storage.tables import LinkRow, RoundRow, by_letter
from storage.transactions import fetch_rows, insert, retried_and_shielded, transaction

# --- What every store agrees on when a round joins its chain: its salt, and where it comes from.

SaltFactory = Callable[[], str]


def new_salt() -> str:
    """Give a salt for the digests of one round, as long as what follows it can be guessed."""
    return secrets.token_hex(16)


@dataclass(frozen=True, slots=True)
class ChainEntry:
    """The salt of a round that joins its chain, and its origin as its link will say it."""

    salt: str
    origin: str = ""


def imported_entry(round_: Round, seal: Seal | None, salting: SaltFactory) -> ChainEntry:
    """Give how a round joins that closed elsewhere; digests it was given there keep their salt."""
    kept = round_.forgotten or (seal.notes if seal else None)
    origin = seal.link.hash if seal and seal.link else ELSEWHERE
    return ChainEntry(kept.salt if kept else salting(), origin)


# --- A closed round's link, made in the transaction that closes it, and read with what was noted.

LINK = TypeAdapter(Link)
LINK_COLUMNS = (
    *(LinkRow.scope, LinkRow.number, LinkRow.round_id, LinkRow.digest),
    *(LinkRow.previous, LinkRow.origin, LinkRow.version, LinkRow.hash),
)


async def append_link(connection: AsyncConnection, round_id: str, joining: ChainEntry) -> None:
    """Note what a closed round holds and append it to its chain; one that has a link keeps it."""
    row, rows = await fetch_round(connection, select(RoundRow), round_id)
    round_ = round_from_rows(row, rows)
    notes = noted(round_, row["salt"] or joining.salt)
    if not row["salt"]:
        own = update(RoundRow).where(col(RoundRow.id) == round_id)
        await connection.execute(own.values(salt=notes.salt, digests=_pairs(notes.texts)))
    scope = round_.question.place.scope
    is_linked = await _fetch_link(connection, round_id) is not None
    while not is_linked:
        last = appended(
            await _load_head(connection, scope), scope, round_id, notes.digest, joining.origin
        )
        is_linked = await insert(connection, [link_row(last, notes.parts)])


async def load_seal(connection: AsyncConnection, round_id: str) -> Seal | None:
    """Give what was noted of a round as it closed, and its link; None where nothing ever was."""
    noted_of = select(col(RoundRow.salt), col(RoundRow.digests), col(RoundRow.forgotten_at))
    own = await fetch_rows(connection, noted_of.where(col(RoundRow.id) == round_id))
    row = await _fetch_link(connection, round_id)
    # Forgetting alone leaves a salt too, in a round that closed before there were chains.
    if not own or (row is None and (own[0]["forgotten_at"] or not own[0]["salt"])):
        return None
    with translate_validation_errors("Round", round_id):
        texts = validate("round.digests", DIGESTS.validate_python, own[0]["digests"])
        parts = validate("link.parts", DIGESTS.validate_python, row["parts"] if row else [])
        return Seal(RoundDigests(own[0]["salt"], texts, parts), link_from_row(row) if row else None)


def link_from_row(row: dict[str, Any]) -> Link:
    """Give the link a row holds; ValueError naming the field where it holds none."""
    return validate("link", LINK.validate_python, row)


async def _fetch_link(connection: AsyncConnection, round_id: str) -> dict[str, Any] | None:
    query = select(LinkRow).where(col(LinkRow.round_id) == round_id).order_by(col(LinkRow.number))
    rows = await fetch_rows(connection, query.limit(1))
    return rows[0] if rows else None


async def _load_head(connection: AsyncConnection, scope: str) -> Link | None:
    of_scope = select(*map(col, LINK_COLUMNS)).where(col(LinkRow.scope) == scope)
    rows = await fetch_rows(connection, of_scope.order_by(col(LinkRow.number).desc()).limit(1))
    with translate_validation_errors("Chain", scope):
        return link_from_row(rows[0]) if rows else None


def link_row(last: Link, parts: Digests) -> LinkRow:
    """Give the row that keeps a link, with the digests that were noted of its round's parts."""
    return LinkRow(
        scope=last.scope,
        number=last.number,
        round_id=last.round_id,
        digest=last.digest,
        previous=last.previous,
        origin=last.origin,
        version=last.version,
        hash=last.hash,
        parts=_pairs(parts),
    )


def _pairs(digests: Digests) -> list[list[str]]:
    return [[*pair] for pair in digests]


# --- The chains of closed rounds, read a stretch at a time.


class SqlHashChain:
    """The chains of a database, one a scope."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._readers = read_only_engine(engine)

    @retried_and_shielded
    async def heads(self) -> tuple[Link, ...]:
        """Give the last link of every chain, by scope."""
        last = select(col(LinkRow.scope), func.max(col(LinkRow.number)).label("number"))
        heads = last.group_by(col(LinkRow.scope)).subquery()
        scope, number = col(LinkRow.scope), col(LinkRow.number)
        is_head = and_(scope == heads.c.scope, number == heads.c.number)
        query = select(*map(col, LINK_COLUMNS)).join(heads, is_head).order_by(by_letter(scope))
        async with transaction(self._readers) as connection:
            rows = await fetch_rows(connection, query)
        with translate_validation_errors("Chain", "heads"):
            return tuple(map(link_from_row, rows))

    @retried_and_shielded
    async def links(self, scope: str, after: int | None, limit: int) -> tuple[StoredLink, ...]:
        """Give the links of a chain that come after a number, in order, so many at most.

        Without a number, from the first on.
        """
        has_round = col(RoundRow.id).is_not(None).label("has_round")
        is_round = col(RoundRow.id) == col(LinkRow.round_id)
        query = (
            select(*map(col, LINK_COLUMNS), has_round)
            .join(RoundRow, is_round, isouter=True)
            .where(col(LinkRow.scope) == scope)
            .order_by(col(LinkRow.number))
            .limit(limit)
        )
        if after is not None:
            query = query.where(col(LinkRow.number) > after)
        async with transaction(self._readers) as connection:
            rows = await fetch_rows(connection, query)
        with translate_validation_errors("Chain", scope):
            return tuple(StoredLink(link_from_row(row), bool(row.pop("has_round"))) for row in rows)
