"""The hash chain in a SQL database: append closed rounds, and read links and seals."""

import secrets
from dataclasses import asdict
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import and_, bindparam, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import col

from council.digests import Digests
from council.integrity.hash_chain import FOREIGN_ORIGIN, Link, StoredLink, next_link
from council.integrity.seal import (
    DecisionSeal,
    RoundDigests,
    Seal,
    compute_digests,
    seal_decision,
)
from council.rounds import Round
from storage.engine import SqlStore
from storage.queries import fetch_round
from storage.row_mapping import DIGESTS, round_from_rows, translate_validation_errors, validate
from storage.tables import LinkRow, RoundRow, by_letter
from storage.transactions import fetch_rows, insert, retried_and_shielded

LINK = TypeAdapter(Link)
LINK_COLUMNS = (
    LinkRow.scope,
    LinkRow.number,
    LinkRow.round_id,
    LinkRow.digest,
    LinkRow.previous,
    LinkRow.origin,
    LinkRow.version,
    LinkRow.hash,
)


def new_salt() -> str:
    """Return a random salt for the digests of one round; without it, texts could be guessed."""
    return secrets.token_hex(16)


def imported_entry(round_: Round, seal: Seal | None) -> tuple[str, str]:
    """Return salt and origin of a round that closed elsewhere; existing digests keep their salt."""
    salted = round_.forgotten or round_.redacted or (seal.notes if seal else None)
    origin = seal.link.hash if seal and seal.link else FOREIGN_ORIGIN
    return salted.salt if salted else new_salt(), origin


async def append_link(
    connection: AsyncConnection, round_id: str, salt: str, origin: str = ""
) -> None:
    """Store the digests of a closed round and append it to its chain unless it has a link."""
    row, rows = await fetch_round(connection, round_id)
    round_ = round_from_rows(row, rows)
    notes = compute_digests(round_, row["salt"] or salt)
    statement = update(RoundRow).where(col(RoundRow.id) == round_id)
    await connection.execute(statement.values(salt=notes.salt, digests=_pairs(notes.texts)))
    if not await _fetch_link_rows(connection, round_id):
        await _append(connection, round_, notes, origin)


async def append_decision_link(
    connection: AsyncConnection, round_id: str, number: int, *, imported: Seal | None = None
) -> None:
    """Append the link of a round's decision to its chain; an `imported` round has a seal."""
    row, rows = await fetch_round(connection, round_id)
    if not row["salt"]:  # it closed before there were chains, and has no link
        return
    round_ = round_from_rows(row, rows)
    known = imported.decisions[number - 1 : number] if imported else ()
    notes = seal_decision(round_, number, row["salt"], known[0].digests if known else ())
    origin = known[0].link.hash if known else FOREIGN_ORIGIN if imported else ""
    await _append(connection, round_, notes, origin)


async def _append(
    connection: AsyncConnection, round_: Round, notes: RoundDigests, origin: str
) -> None:
    scope, is_linked = round_.question.place.scope, False
    while not is_linked:
        head = await _load_head(connection, scope)
        last = next_link(head, scope, round_.id, notes.digest, origin)
        link = LinkRow(**asdict(last), parts=_pairs(notes.parts))
        is_linked = await insert(connection, [link])


async def load_seal(connection: AsyncConnection, round_id: str) -> Seal | None:
    """Return the digests of a closed round and its link; None if it has neither."""
    columns = (RoundRow.salt, RoundRow.digests, RoundRow.forgotten_at, RoundRow.redacted)
    query = select(*map(col, columns))
    own = await fetch_rows(connection, query.where(col(RoundRow.id) == round_id))
    links = await _fetch_link_rows(connection, round_id)
    row, later = (links[0], links[1:]) if links else (None, [])
    # A round that closed before there were chains has a salt if its texts are forgotten.
    erased = own and (own[0]["forgotten_at"] or own[0]["redacted"])
    if not own or (row is None and (erased or not own[0]["salt"])):
        return None
    with translate_validation_errors("Round", round_id):
        texts = validate("round.digests", DIGESTS.validate_python, own[0]["digests"])
        parts = validate("link.parts", DIGESTS.validate_python, row["parts"] if row else [])
        return Seal(
            RoundDigests(own[0]["salt"], texts, parts),
            link_from_row(row) if row else None,
            tuple(map(_decision_seal, later)),
        )


def _decision_seal(row: dict[str, Any]) -> DecisionSeal:
    digests = validate("link.parts", DIGESTS.validate_python, row["parts"])
    return DecisionSeal(digests, link_from_row(row))


def link_from_row(row: dict[str, Any]) -> Link:
    """Return the link from its row; raise ValueError with the name of an invalid field."""
    return validate("link", LINK.validate_python, row)


_LINKS = (
    select(LinkRow)
    .where(col(LinkRow.round_id) == bindparam("round_id"))
    .order_by(col(LinkRow.number))
)
_HEAD = (
    select(*map(col, LINK_COLUMNS))
    .where(col(LinkRow.scope) == bindparam("scope"))
    .order_by(col(LinkRow.number).desc())
    .limit(1)
)


async def _fetch_link_rows(connection: AsyncConnection, round_id: str) -> list[dict[str, Any]]:
    return [*await fetch_rows(connection, _LINKS, {"round_id": round_id})]


async def _load_head(connection: AsyncConnection, scope: str) -> Link | None:
    rows = await fetch_rows(connection, _HEAD, {"scope": scope})
    with translate_validation_errors("Chain", scope):
        return link_from_row(rows[0]) if rows else None


def _pairs(digests: Digests) -> list[list[str]]:
    return [[*pair] for pair in digests]


class SqlHashChain(SqlStore):
    """The hash chains of a database, one for each scope."""

    @retried_and_shielded
    async def heads(self) -> tuple[Link, ...]:
        """Return the last link of every chain, sorted by scope."""
        last = select(col(LinkRow.scope), func.max(col(LinkRow.number)).label("number"))
        heads = last.group_by(col(LinkRow.scope)).subquery()
        scope, number = col(LinkRow.scope), col(LinkRow.number)
        is_head = and_(scope == heads.c.scope, number == heads.c.number)
        query = select(*map(col, LINK_COLUMNS)).join(heads, is_head).order_by(by_letter(scope))
        rows = await self._fetch(query)
        with translate_validation_errors("Chain", "heads"):
            return tuple(map(link_from_row, rows))

    @retried_and_shielded
    async def links(self, scope: str, after: int | None, limit: int) -> tuple[StoredLink, ...]:
        """Return at most `limit` links of a chain, in order, after the given number if any."""
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
        rows = await self._fetch(query)
        with translate_validation_errors("Chain", scope):
            return tuple(StoredLink(link_from_row(row), bool(row.pop("has_round"))) for row in rows)
