"""Queries that find and list rounds, and the lookup rules that every round store shares."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import and_, exists, false, func, not_, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import col

from council.errors import RoundNotFoundError
from council.places import Place
from council.ports import ALL_ROUNDS, RoundQuery, RoundSummary
from council.rounds import Stage
from storage.row_mapping import PART_TABLES, RoundRows, from_row
from storage.tables import LabelRow, RoundRow, VerdictRow, by_letter
from storage.transactions import fetch_rows

MAX_PAST_ROUNDS = 100  # how many past rounds of a panel are read for their ballots


def round_not_found(round_id: str) -> RoundNotFoundError:
    """Return the error for an id that no stored round has."""
    return RoundNotFoundError(f"There is no round {round_id!r}.")


def match_id(start: str, candidates: Sequence[str]) -> str:
    """Return the id that equals `start`, or the only candidate.

    `candidates` are the stored ids that begin with `start`. Raise RoundNotFoundError if there are
    none or several.
    """
    if start in candidates:
        return start
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise RoundNotFoundError(f"Several rounds begin with {start!r}: give more of the id.")
    raise RoundNotFoundError(f"There is no round {start!r}: `council rounds` lists what is stored.")


async def fetch_round(
    connection: AsyncConnection,
    rounds: Any,  # noqa: ANN401
    round_id: str,
) -> tuple[dict[str, Any], RoundRows]:
    """Return a round's own row and the rows of its parts; raise RoundNotFoundError.

    `rounds` is a query for the own rows of rounds, which may lock them.
    """
    own = await fetch_rows(connection, rounds.where(col(RoundRow.id) == round_id))
    if not own:
        raise round_not_found(round_id)
    parts = {
        table: await fetch_rows(connection, select(table).where(table.round_id == round_id))
        for table in PART_TABLES
    }
    return own[0], RoundRows(parts)


def summaries_query(wanted: RoundQuery) -> Any:  # noqa: ANN401
    """Return the query for the summaries of the wanted rounds, newest first."""
    columns = (
        RoundRow.id,
        RoundRow.question,
        RoundRow.asked_at,
        RoundRow.asked_by,
        RoundRow.paused,
        RoundRow.forgotten_at,
        RoundRow.delivered,
        RoundRow.panel_name,
        RoundRow.seconds,
        RoundRow.bakeoff,
        *(RoundRow.chat, RoundRow.workspace, RoundRow.channel, RoundRow.thread, RoundRow.private),
    )
    stage = (
        col(RoundRow.failure).is_not(None).label("failed"),
        _has(VerdictRow).label("ranked"),
        _has(LabelRow).label("drawn"),
    )
    newest_first = (col(RoundRow.asked_at).desc(), by_letter(RoundRow.id))
    query = select(*map(col, columns), *stage).order_by(*newest_first)
    return query.where(*_conditions(wanted))


def summary_query(round_id: str) -> Any:  # noqa: ANN401
    """Return the query for the summary of one round."""
    return summaries_query(ALL_ROUNDS).where(col(RoundRow.id) == round_id)


def ids_query(wanted: RoundQuery) -> Any:  # noqa: ANN401
    """Return the query for the ids of the wanted rounds, oldest first."""
    oldest_first = (col(RoundRow.asked_at), by_letter(RoundRow.id))
    return select(col(RoundRow.id)).where(*_conditions(wanted)).order_by(*oldest_first)


def _conditions(wanted: RoundQuery) -> list[Any]:
    conditions: list[Any] = []
    if wanted.containing:
        question = func.lower(col(RoundRow.question))
        conditions.append(question.contains(wanted.containing.lower(), autoescape=True))
    if wanted.panel:
        conditions.append(col(RoundRow.panel_name) == wanted.panel)
    if wanted.asked_by is not None:
        conditions.append(col(RoundRow.asked_by) == wanted.asked_by)
    if wanted.bakeoff is not None:
        conditions.append(col(RoundRow.bakeoff) == wanted.bakeoff)
    if wanted.since:
        conditions.append(col(RoundRow.asked_at) >= wanted.since)
    if wanted.before:
        conditions.append(col(RoundRow.asked_at) < wanted.before)
    return [*conditions, *_place_conditions(wanted), *_state_conditions(wanted)]


def _place_conditions(wanted: RoundQuery) -> Iterator[Any]:
    if wanted.chats:
        yield col(RoundRow.chat).in_(wanted.chats)
    if wanted.workspace is not None:
        yield col(RoundRow.workspace) == wanted.workspace
    if wanted.asker is not None:
        yield or_(not_(col(RoundRow.private)), col(RoundRow.asked_by) == wanted.asker)
    is_here = _in_channel(wanted.here) if wanted.here else false()
    if wanted.here:
        yield or_(not_(col(RoundRow.private)), is_here)
    if wanted.only_here:
        yield is_here


def _in_channel(place: Place) -> Any:  # noqa: ANN401
    return and_(
        col(RoundRow.chat) == place.chat,
        col(RoundRow.workspace) == place.workspace,
        col(RoundRow.channel) == place.channel,
    )


def _state_conditions(wanted: RoundQuery) -> Iterator[Any]:
    if wanted.unfinished:
        yield from (col(RoundRow.seconds).is_(None), not_(col(RoundRow.paused)))
    if wanted.undelivered:
        yield from (not_(col(RoundRow.delivered)), col(RoundRow.bakeoff) == "")
    if wanted.succeeded:
        yield from (col(RoundRow.seconds).is_not(None), col(RoundRow.failure).is_(None))
    if wanted.excludes_forgotten:
        yield col(RoundRow.forgotten_at).is_(None)


def summary_from_row(row: Any) -> RoundSummary:  # noqa: ANN401
    """Return the summary from a row of `summaries_query`."""
    own = {"stage": _stage(row), "panel": row.panel_name, "forgotten": row.forgotten_at}
    return from_row(RoundSummary, row, place=from_row(Place, row), **own)


def _has(table: type[LabelRow] | type[VerdictRow]) -> Any:  # noqa: ANN401
    return exists().where(col(table.round_id) == RoundRow.id)


def _stage(row: Any) -> Stage:  # noqa: ANN401
    if row.seconds is not None:
        return Stage.CLOSED
    if row.ranked:
        return Stage.RANKED
    return Stage.ANSWERED if row.drawn else Stage.OPEN
