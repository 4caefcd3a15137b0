"""A closed round's link, made in the transaction that closes it, and read with what was noted.

However many processes close rounds at once, each chain stays one: a number that is taken makes
whoever wanted it look at the head again.
"""

from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import col

from council.digests import Digests
from council.integrity.hash_chain import Link, appended
from council.integrity.seal import Notes, Seal, noted
from storage.acts import insert, rows_of
from storage.joining import Joining
from storage.loading import found
from storage.reading import DIGESTS, round_from
from storage.rows import LinkRow, RoundRow
from storage.valid import told_by_field, valid

LINK = TypeAdapter(Link)
HELD = (
    *(LinkRow.scope, LinkRow.number, LinkRow.round_id, LinkRow.digest),
    *(LinkRow.previous, LinkRow.origin, LinkRow.version, LinkRow.hash),
)


async def link(connection: AsyncConnection, round_id: str, joining: Joining) -> None:
    """Note what a closed round holds and append it to its chain; one that has a link keeps it."""
    row, rows = await found(connection, select(RoundRow), round_id)
    round_ = round_from(row, rows)
    notes = noted(round_, row["salt"] or joining.salt)
    if not row["salt"]:
        own = update(RoundRow).where(col(RoundRow.id) == round_id)
        await connection.execute(own.values(salt=notes.salt, digests=_pairs(notes.texts)))
    scope = round_.question.place.scope
    is_linked = await _row_of(connection, round_id) is not None
    while not is_linked:
        last = appended(
            await _head(connection, scope), scope, round_id, notes.digest, joining.origin
        )
        is_linked = await insert(connection, [link_row(last, notes.parts)])


async def seal_of(connection: AsyncConnection, round_id: str) -> Seal | None:
    """Give what was noted of a round as it closed, and its link; None where nothing ever was."""
    noted_of = select(col(RoundRow.salt), col(RoundRow.digests), col(RoundRow.forgotten_at))
    own = await rows_of(connection, noted_of.where(col(RoundRow.id) == round_id))
    row = await _row_of(connection, round_id)
    # Forgetting alone leaves a salt too, in a round that closed before there were chains.
    if not own or (row is None and (own[0]["forgotten_at"] or not own[0]["salt"])):
        return None
    with told_by_field("Round", round_id):
        texts = valid("round.digests", DIGESTS.validate_python, own[0]["digests"])
        parts = valid("link.parts", DIGESTS.validate_python, row["parts"] if row else [])
        return Seal(Notes(own[0]["salt"], texts, parts), link_from(row) if row else None)


def link_from(row: dict[str, Any]) -> Link:
    """Give the link a row holds; ValueError naming the field where it holds none."""
    return valid("link", LINK.validate_python, row)


async def _row_of(connection: AsyncConnection, round_id: str) -> dict[str, Any] | None:
    query = select(LinkRow).where(col(LinkRow.round_id) == round_id).order_by(col(LinkRow.number))
    rows = await rows_of(connection, query.limit(1))
    return rows[0] if rows else None


async def _head(connection: AsyncConnection, scope: str) -> Link | None:
    of_scope = select(*map(col, HELD)).where(col(LinkRow.scope) == scope)
    rows = await rows_of(connection, of_scope.order_by(col(LinkRow.number).desc()).limit(1))
    with told_by_field("Chain", scope):
        return link_from(rows[0]) if rows else None


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
