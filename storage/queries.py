"""Queries that find and list rounds, and the lookup rules that every round store shares."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from sqlalchemy import String, and_, bindparam, case, cast, exists, false, func, not_, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import col

from council.errors import RoundNotFoundError
from council.integrity.erasure import quote_starts
from council.places import Place
from council.ports import RoundQuery, RoundSummary
from council.rounds import Round, Stage
from storage.row_mapping import PART_TABLES, READING, RowsByTable, from_row
from storage.tables import (
    AnswerRow,
    LabelRow,
    RoundRow,
    StandingRow,
    SynthesisRow,
    VerdictRow,
    by_letter,
)
from storage.transactions import fetch_rows

MAX_PAST_ROUNDS = 100  # how many past rounds of a panel are read for their ballots


def round_not_found(round_id: str) -> RoundNotFoundError:
    """Return the error for an id that no stored round has."""
    return RoundNotFoundError(f"There is no round {round_id!r}.")


def match_id(start: str, candidates: Sequence[str]) -> str:
    """Return `start` if it is a candidate, or the only candidate; raise RoundNotFoundError."""
    if start in candidates:
        return start
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise RoundNotFoundError(f"Several rounds start with {start!r}. Give more of the id.")
    raise RoundNotFoundError(f"There is no round {start!r}. `/council rounds` lists them.")


# Statements that every round repeats are built once.
_OWN_ROW = select(RoundRow).where(col(RoundRow.id) == bindparam("round_id"))
_LOCKED_ROW = _OWN_ROW.with_for_update()
_PARTS = {
    table: select(table).where(table.round_id == bindparam("round_id")) for table in PART_TABLES
}


async def fetch_round(
    connection: AsyncConnection, round_id: str, *, lock: bool = False
) -> tuple[dict[str, Any], RowsByTable]:
    """Return a round's own row, which may be locked, and its parts; raise RoundNotFoundError."""
    key = {"round_id": round_id}
    rows = await fetch_rows(connection, _LOCKED_ROW if lock else _OWN_ROW, key)
    if not rows:
        raise round_not_found(round_id)
    parts = {table: await fetch_rows(connection, query, key) for table, query in _PARTS.items()}
    return rows[0], parts


@lru_cache(maxsize=64)
def summaries_query(query: RoundQuery) -> Any:  # noqa: ANN401
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
        RoundRow.chat,
        RoundRow.workspace,
        RoundRow.channel,
        RoundRow.thread,
        RoundRow.private,
        RoundRow.reading,
    )
    strength = select(col(VerdictRow.strength)).where(col(VerdictRow.round_id) == RoundRow.id)
    stage = (
        col(RoundRow.failure),
        strength.scalar_subquery().label("strength"),
        _has(LabelRow).label("drawn"),
    )
    statement = select(*map(col, columns), *stage)
    if query.folded:
        return _folded(statement, query)
    newest_first = (col(RoundRow.asked_at).desc(), by_letter(RoundRow.id))
    return statement.where(*_conditions(query)).order_by(*newest_first)


def _folded(statement: Any, query: RoundQuery) -> Any:  # noqa: ANN401
    """Return the query with one row for each bake-off: its newest round, and how many it has."""
    run = case((col(RoundRow.bakeoff) == "", col(RoundRow.id)), else_=col(RoundRow.bakeoff))
    is_run = case((col(RoundRow.bakeoff) == "", 0), else_=1)
    newest_first = (col(RoundRow.asked_at).desc(), by_letter(RoundRow.id))
    nth = func.row_number().over(partition_by=(is_run, run), order_by=newest_first)
    rounds = func.count().over(partition_by=(is_run, run))
    counted = statement.add_columns(nth.label("nth"), rounds.label("rounds"))
    found = counted.where(*_conditions(replace(query, before=None))).subquery()
    newest = select(found).where(found.c.nth == 1)
    if query.before:
        newest = newest.where(found.c.asked_at < query.before)
    return newest.order_by(found.c.asked_at.desc(), by_letter(found.c.id))


def ids_query(query: RoundQuery) -> Any:  # noqa: ANN401
    """Return the query for the ids of the wanted rounds, oldest first."""
    oldest_first = (col(RoundRow.asked_at), by_letter(RoundRow.id))
    return select(col(RoundRow.id)).where(*_conditions(query)).order_by(*oldest_first)


def quoting_query(source: Round, *, by_text: bool) -> Any:  # noqa: ANN401
    """Return the query for the ids of the rounds that may quote a round, oldest first.

    With `by_text` also of those that note no quotes, and have its texts: see `erasure.quotes`.
    """
    noted = func.coalesce(cast(col(RoundRow.quotes), String), "null")
    quotes = noted.contains(json.dumps(source.id), autoescape=True)
    if by_text:
        context, question = col(RoundRow.context), source.question
        has_texts = [context.contains(start, autoescape=True) for start in quote_starts(source)]
        has_texts.append(
            and_(
                col(RoundRow.question) == question.text,
                context == question.context,
                col(RoundRow.asked_by) != question.asked_by,
            )
        )
        quotes = or_(quotes, and_(noted == "null", or_(*has_texts)))
    conditions = (quotes, col(RoundRow.id) != source.id, col(RoundRow.forgotten_at).is_(None))
    oldest_first = (col(RoundRow.asked_at), by_letter(RoundRow.id))
    return select(col(RoundRow.id)).where(*conditions).order_by(*oldest_first)


def _conditions(query: RoundQuery) -> Iterator[Any]:
    if query.containing:
        yield _contains(RoundRow.question, query.containing)
    if query.anywhere:
        answered, written = (
            _has(table, _contains(table.text, query.anywhere))
            for table in (AnswerRow, SynthesisRow)
        )
        yield or_(_contains(RoundRow.question, query.anywhere), answered, written)
    if query.winner:
        author = and_(col(LabelRow.round_id) == RoundRow.id, col(LabelRow.member) == query.winner)
        is_first = and_(col(StandingRow.place) == 1, col(StandingRow.label) == LabelRow.label)
        yield _has(StandingRow, is_first, author)
    if query.panel:
        yield col(RoundRow.panel_name) == query.panel
    for name in ("asked_by", "bakeoff", "workspace"):
        if (value := getattr(query, name)) is not None:
            yield col(getattr(RoundRow, name)) == value
    if query.since:
        yield col(RoundRow.asked_at) >= query.since
    if query.before:
        yield col(RoundRow.asked_at) < query.before
    yield from _place_conditions(query)
    yield from _state_conditions(query)


def _place_conditions(query: RoundQuery) -> Iterator[Any]:
    if query.chats:
        yield col(RoundRow.chat).in_(query.chats)
    if query.asker is not None:
        yield or_(not_(col(RoundRow.private)), col(RoundRow.asked_by) == query.asker)
    is_here = _in_channel(query.here) if query.here else false()
    if query.here:
        yield or_(not_(col(RoundRow.private)), is_here)
    if query.only_here:
        yield is_here


def _in_channel(place: Place) -> Any:  # noqa: ANN401
    return and_(
        col(RoundRow.chat) == place.chat,
        col(RoundRow.workspace) == place.workspace,
        col(RoundRow.channel) == place.channel,
    )


def _state_conditions(query: RoundQuery) -> Iterator[Any]:
    if query.unfinished:
        yield from (col(RoundRow.seconds).is_(None), not_(col(RoundRow.paused)))
    if query.undelivered:
        yield from (not_(col(RoundRow.delivered)), col(RoundRow.bakeoff) == "")
    if query.succeeded:
        yield from (col(RoundRow.seconds).is_not(None), col(RoundRow.failure).is_(None))
    if query.excludes_forgotten:
        yield col(RoundRow.forgotten_at).is_(None)


def summary_from_row(row: Any) -> RoundSummary:  # noqa: ANN401
    """Return the summary from a row of `summaries_query`."""
    values = {"stage": _stage(row), "panel": row.panel_name, "forgotten": row.forgotten_at}
    values["strength"] = row.strength or ""
    reading = READING.validate_python(row.reading)
    values["people"] = reading.people if reading else ()
    values["rounds"] = getattr(row, "rounds", 1)  # of a folded list
    return from_row(RoundSummary, row, place=from_row(Place, row), **values)


def _has(table: Any, *conditions: Any) -> Any:  # noqa: ANN401
    return exists().where(col(table.round_id) == RoundRow.id, *conditions)


def _contains(column: Any, text: str) -> Any:  # noqa: ANN401
    return func.lower(col(column)).contains(text.lower(), autoescape=True)


def _stage(row: Any) -> Stage:  # noqa: ANN401
    if row.seconds is not None:
        return Stage.CLOSED
    if row.strength:
        return Stage.RANKED
    return Stage.ANSWERED if row.drawn else Stage.OPEN
