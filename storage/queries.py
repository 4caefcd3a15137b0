"""What every store agrees on when it looks rounds up."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import and_, exists, false, func, not_, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import col

from council.errors import RoundNotFoundError
from council.places import Place
from council.ports import EVERY, RoundQuery, RoundSummary
from council.rounds import Stage
from storage.row_mapping import PART_TABLES, RoundRows, place_from_row
from storage.tables import LabelRow, RoundRow, VerdictRow, by_letter
from storage.transactions import fetch_rows

# --- What every store agrees on when it looks rounds up.

MAX_PAST_ROUNDS = 100  # how far back a panel's ballots are read


def round_not_found(round_id: str) -> RoundNotFoundError:
    """Give the error for an id that no stored round has."""
    return RoundNotFoundError(f"There is no round {round_id!r}.")


def match_id(start: str, found: Sequence[str]) -> str:
    """Give the id meant by its start: itself, or the only one that starts so."""
    if start in found:
        return start
    if len(found) == 1:
        return found[0]
    if found:
        raise RoundNotFoundError(f"Several rounds begin with {start!r}: give more of the id.")
    raise RoundNotFoundError(f"There is no round {start!r}: `council rounds` lists what is stored.")


# --- The rows of one round, found in every table that holds something of it.


async def fetch_round(
    connection: AsyncConnection,
    rounds: Any,  # noqa: ANN401
    round_id: str,
) -> tuple[dict[str, Any], RoundRows]:
    """Give the rows of a round, its own first, by a query for rounds' own rows."""
    own = await fetch_rows(connection, rounds.where(col(RoundRow.id) == round_id))
    if not own:
        raise round_not_found(round_id)
    parts = {
        table: await fetch_rows(connection, select(table).where(table.round_id == round_id))
        for table in PART_TABLES
    }
    return own[0], RoundRows(parts)


# --- The query for lists of rounds.


def summaries_query(wanted: RoundQuery) -> Any:  # noqa: ANN401
    """Give the query for the lines of the rounds that are wanted, newest first."""
    shown = (
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
    query = select(*map(col, shown), *stage).order_by(*newest_first)
    return query.where(*_conditions(wanted))


def summary_query(round_id: str) -> Any:  # noqa: ANN401
    """Give the query for the line of one round."""
    return summaries_query(EVERY).where(col(RoundRow.id) == round_id)


def ids_query(wanted: RoundQuery) -> Any:  # noqa: ANN401
    """Give the query for the ids of the rounds that are wanted, oldest first."""
    oldest_first = (col(RoundRow.asked_at), by_letter(RoundRow.id))
    return select(col(RoundRow.id)).where(*_conditions(wanted)).order_by(*oldest_first)


def _conditions(wanted: RoundQuery) -> list[Any]:
    found: list[Any] = []
    if wanted.containing:
        question = func.lower(col(RoundRow.question))
        found.append(question.contains(wanted.containing.lower(), autoescape=True))
    if wanted.panel:
        found.append(col(RoundRow.panel_name) == wanted.panel)
    if wanted.asked_by is not None:
        found.append(col(RoundRow.asked_by) == wanted.asked_by)
    if wanted.bakeoff is not None:
        found.append(col(RoundRow.bakeoff) == wanted.bakeoff)
    if wanted.since:
        found.append(col(RoundRow.asked_at) >= wanted.since)
    if wanted.before:
        found.append(col(RoundRow.asked_at) < wanted.before)
    return [*found, *_place_conditions(wanted), *_state_conditions(wanted)]


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
    if wanted.leaves_forgotten_out:
        yield col(RoundRow.forgotten_at).is_(None)


def summary_from_row(row: Any) -> RoundSummary:  # noqa: ANN401
    """Give the line a row of the query holds."""
    return RoundSummary(
        row.id,
        row.question,
        row.asked_at,
        _stage(row),
        row.asked_by,
        place_from_row(row),
        row.paused,
        forgotten=row.forgotten_at,
        panel=row.panel_name,
        seconds=row.seconds,
        failed=row.failed,
        delivered=row.delivered,
        bakeoff=row.bakeoff,
    )


def _has(table: type[LabelRow] | type[VerdictRow]) -> Any:  # noqa: ANN401
    return exists().where(col(table.round_id) == RoundRow.id)


def _stage(row: Any) -> Stage:  # noqa: ANN401
    if row.seconds is not None:
        return Stage.CLOSED
    if row.ranked:
        return Stage.RANKED
    return Stage.ANSWERED if row.drawn else Stage.OPEN
