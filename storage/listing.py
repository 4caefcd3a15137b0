"""The query for lists of rounds."""

from typing import Any

from sqlalchemy import exists, func, or_, select
from sqlmodel import col

from council.ports import RoundLine, Wanted
from council.rounds import Stage
from storage.reading import place_from
from storage.rows import LabelRow, RoundRow, VerdictRow


def lines_query(wanted: Wanted) -> Any:  # noqa: ANN401
    """Give the query for the lines of the rounds that are wanted, newest first."""
    shown = (
        RoundRow.id,
        RoundRow.question,
        RoundRow.asked_at,
        RoundRow.asked_by,
        RoundRow.paused,
        RoundRow.forgotten_at,
        *(RoundRow.chat, RoundRow.workspace, RoundRow.channel, RoundRow.thread, RoundRow.private),
    )
    stage = (
        col(RoundRow.seconds).is_not(None).label("closed"),
        _has(VerdictRow).label("ranked"),
        _has(LabelRow).label("drawn"),
    )
    newest_first = (col(RoundRow.asked_at).desc(), col(RoundRow.id))
    query = select(*map(col, shown), *stage).order_by(*newest_first)
    return query.where(*_conditions(wanted))


def ids_query(wanted: Wanted) -> Any:  # noqa: ANN401
    """Give the query for the ids of the rounds that are wanted, oldest first."""
    oldest_first = (col(RoundRow.asked_at), col(RoundRow.id))
    return select(col(RoundRow.id)).where(*_conditions(wanted)).order_by(*oldest_first)


def _conditions(wanted: Wanted) -> list[Any]:
    found: list[Any] = []
    if wanted.containing:
        question = func.lower(col(RoundRow.question))
        found.append(question.contains(wanted.containing.lower(), autoescape=True))
    if wanted.chats:
        found.append(col(RoundRow.chat).in_(wanted.chats))
    if wanted.asker is not None:
        found.append(or_(~col(RoundRow.private), col(RoundRow.asked_by) == wanted.asker))
    if wanted.unfinished:
        found += [col(RoundRow.seconds).is_(None), ~col(RoundRow.paused)]
    if wanted.unfinished or wanted.remembered:
        found.append(col(RoundRow.forgotten_at).is_(None))
    if wanted.since:
        found.append(col(RoundRow.asked_at) >= wanted.since)
    if wanted.before:
        found.append(col(RoundRow.asked_at) < wanted.before)
    return found


def line_from(row: Any) -> RoundLine:  # noqa: ANN401
    """Give the line a row of the query holds."""
    told = (row.id, row.question, row.asked_at, _stage(row), row.asked_by)
    return RoundLine(*told, place_from(row), row.paused, row.forgotten_at)


def _has(table: type[LabelRow] | type[VerdictRow]) -> Any:  # noqa: ANN401
    return exists().where(col(table.round_id) == RoundRow.id)


def _stage(row: Any) -> Stage:  # noqa: ANN401
    if row.closed:
        return Stage.CLOSED
    if row.ranked:
        return Stage.RANKED
    return Stage.ANSWERED if row.drawn else Stage.OPEN
