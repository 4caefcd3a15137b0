"""Map rounds to table rows and back, validating every row that is read."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields
from enum import StrEnum
from functools import singledispatch
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from sqlmodel import SQLModel

from council.answers import Absence, Answer, Prompt, Reply, Role
from council.ballots import Ballot, BallotExchange, SpoiledBallot
from council.digests import Digests, Erasure
from council.errors import PanelError, StoreError
from council.labels import Label, LabelMap, Slate
from council.panel import Panel
from council.places import Place
from council.rounds import (
    Artefact,
    Closing,
    Draw,
    Fallback,
    Question,
    Round,
    Synthesis,
    sort_by_panel,
)
from council.tally import Standing, Strength, Tally, Verdict
from council.tally.agreement import Agreement
from storage import tables as rows

T = TypeVar("T")
Row = TypeVar("Row", bound=SQLModel)
Word = TypeVar("Word", bound=StrEnum)
RowValues = Mapping[str, Any]  # the values of a row, by column

PANEL = TypeAdapter(Panel)
BALLOT = TypeAdapter(Ballot)
DIGESTS = TypeAdapter(Digests)
# The columns of a synthesis that are null if no chairman wrote it.
REPLY_COLUMNS = (
    *("prompt_system", "prompt_user", "cut", "attempts", "seconds"),
    *("tokens_in", "tokens_out", "cost_usd"),
)

PART_TABLES: tuple[type[Any], ...] = (
    rows.AnswerRow,
    rows.AbsenceRow,
    rows.LabelRow,
    rows.SlateRow,
    rows.BallotRow,
    rows.SpoiledBallotRow,
    rows.StandingRow,
    rows.VerdictRow,
    rows.SynthesisRow,
)


# --- From a round to rows


def round_row(round_: Round) -> rows.RoundRow:
    """Return the round's own row, without its artefacts."""
    closing = closing_columns(round_.closing) if round_.closing else {}
    return rows.RoundRow(
        id=round_.id,
        asked_by=round_.question.asked_by,
        **asdict(round_.question.place),
        asked_at=round_.asked_at,
        panel_name=round_.panel.name,
        panel=PANEL.dump_python(round_.panel, mode="json"),
        seed=round_.seed,
        versions=dict(round_.versions),
        **closing,
        bakeoff=round_.bakeoff,
        **(_question_columns(round_) | forgotten_columns(round_)),
    )


def part_rows(round_: Round) -> Iterator[SQLModel]:
    """Yield the rows of all artefacts of the round, table by table."""
    for artefact in list_artefacts(round_):
        yield from artefact_rows(artefact, round_.id)


def list_artefacts(round_: Round) -> list[Artefact]:
    """Return the artefacts of a round without its closing, one kind after another."""
    artefacts: list[Artefact | None] = [
        *round_.answers,
        *round_.absences,
        *round_.ballots,
        *round_.spoiled,
        round_.draw,
        round_.tally,
        round_.synthesis,
    ]
    return [artefact for artefact in artefacts if artefact]


@singledispatch
def artefact_rows(artefact: Artefact, round_id: str) -> Iterator[SQLModel]:
    """Yield the rows of an artefact; a closing has none, because it is in the round's own row.

    The first row has the key that any other artefact for the same place would have.
    """
    raise TypeError(f"{artefact!r} has no table")


@artefact_rows.register
def _(answer: Answer, round_id: str) -> Iterator[SQLModel]:
    yield rows.AnswerRow(
        round_id=round_id,
        member=answer.member,
        scrubbed=list(answer.scrubbed),
        suspicions=list(answer.suspicions),
        **_prompt_columns(answer.prompt),
        **asdict(answer.reply),
    )


@artefact_rows.register
def _(absence: Absence, round_id: str) -> Iterator[SQLModel]:
    yield rows.AbsenceRow(round_id=round_id, **asdict(absence))


@artefact_rows.register
def _(draw: Draw, round_id: str) -> Iterator[SQLModel]:
    for i, (member, label) in enumerate(draw.labels.pairs):
        yield rows.LabelRow(round_id=round_id, member=member, label=label, position=i)
    for i, slate in enumerate(draw.slates):
        shown: list[str] = [*slate.shown]
        yield rows.SlateRow(round_id=round_id, judge=slate.judge, shown=shown, position=i)


@artefact_rows.register
def _(ballot: Ballot, round_id: str) -> Iterator[SQLModel]:
    if ballot.paper is None:
        raise StoreError(
            f"The ballot of {ballot.judge!r} came without what it was read from, so it could not "
            "be recomputed and is not kept."
        )
    yield rows.BallotRow(
        round_id=round_id,
        judge=ballot.judge,
        audit=ballot.audit or "",
        shown=list(ballot.shown),
        ranking=[list(place) for place in ballot.ranking],
        reason=ballot.reason,
        **_exchange_columns(ballot.paper),
    )


@artefact_rows.register
def _(spoiled: SpoiledBallot, round_id: str) -> Iterator[SQLModel]:
    yield rows.SpoiledBallotRow(
        round_id=round_id,
        judge=spoiled.judge,
        fault=spoiled.fault,
        **_exchange_columns(spoiled.paper),
    )


@artefact_rows.register
def _(tally: Tally, round_id: str) -> Iterator[SQLModel]:
    verdict = tally.verdict
    yield rows.VerdictRow(
        round_id=round_id,
        strength=verdict.strength.value,
        p=verdict.p,
        first_on=verdict.first_on[0],
        first_of=verdict.first_on[1],
        too_few_judges=verdict.too_few_judges,
        n_eff=verdict.n_eff,
        flags=list(verdict.flags),
        **asdict(verdict.agreement),
    )
    for i, standing in enumerate(tally.standings):
        yield rows.StandingRow(round_id=round_id, position=i, **asdict(standing))


@artefact_rows.register
def _(synthesis: Synthesis, round_id: str) -> Iterator[SQLModel]:
    reply: dict[str, Any] = asdict(synthesis.reply) if synthesis.reply else {}
    yield rows.SynthesisRow(
        round_id=round_id,
        text=synthesis.text,
        chairman=synthesis.chairman,
        fallback=synthesis.fallback,
        drawn_on=list(synthesis.drawn_on),
        departs=synthesis.departs,
        why=synthesis.why,
        reply=reply.pop("text", None),
        **reply,
        **(_prompt_columns(synthesis.prompt) if synthesis.prompt else {}),
    )


def _prompt_columns(prompt: Prompt) -> dict[str, Any]:
    return {"prompt_system": prompt.system, "prompt_user": prompt.user}


def _exchange_columns(exchange: BallotExchange) -> dict[str, Any]:
    return {
        "nonce": exchange.nonce,
        "attempt": exchange.attempt,
        "cut_to": exchange.cut_to,
        **_prompt_columns(exchange.prompt),
        **asdict(exchange.reply),
    }


def closing_columns(closing: Closing) -> dict[str, Any]:
    """Return the columns of the round's row that a closing sets."""
    return {"seconds": closing.seconds, "failure": closing.failure}


def forgotten_columns(round_: Round) -> dict[str, Any]:
    """Return the columns of the round's row that forgetting sets; empty for any other round."""
    forgotten = round_.forgotten
    if forgotten is None:
        return {}
    return {
        **_question_columns(round_),
        "forgotten_at": forgotten.at,
        "salt": forgotten.salt,
        "digests": [[*pair] for pair in forgotten.digests],
    }


def _question_columns(round_: Round) -> dict[str, Any]:
    question = round_.question
    return {
        "question": question.text,
        "context": question.context,
        "reference": question.reference,
    }


# --- From rows to a round


class RoundRows:
    """The rows of one round, by table."""

    def __init__(self, rows_by_table: Mapping[type[Any], Sequence[RowValues]]) -> None:
        self._rows = rows_by_table

    def of(self, table: type[Row]) -> Sequence[Row]:
        """Return the rows of a table in the order of the round; raise ValueError for a gap."""
        valid = [_validate_row(table, values) for values in self._rows[table]]
        if not hasattr(table, "position"):
            return valid
        in_order = {getattr(row, "position", None): row for row in valid}
        if in_order.keys() != {*range(len(valid))}:
            raise ValueError(f"{table.__tablename__}.position: they do not run from 0 on.")
        return [in_order[position] for position in range(len(valid))]


def round_from_rows(own: RowValues, parts: RoundRows) -> Round:
    """Return a round in panel order; raise StoreError for values that no round can hold."""
    with translate_validation_errors("Round", own["id"]):
        return _round(_validate_row(rows.RoundRow, own), parts)


def past_ballot_from_row(values: RowValues) -> Ballot:
    """Return a ballot without the exchange it was parsed from; raise StoreError if invalid."""
    with translate_validation_errors("Round", values["round_id"]):
        return validate("ballot", BALLOT.validate_python, values)


def _round(row: rows.RoundRow, parts: RoundRows) -> Round:
    syntheses = [_synthesis(row) for row in parts.of(rows.SynthesisRow)]
    return sort_by_panel(
        Round(
            id=row.id,
            question=_question(row),
            panel=_panel(row),
            seed=row.seed,
            asked_at=row.asked_at,
            # JSONB does not preserve the order of keys.
            versions=tuple(sorted(row.versions.items())),
            answers=tuple(map(_answer, parts.of(rows.AnswerRow))),
            absences=tuple(map(_absence, parts.of(rows.AbsenceRow))),
            draw=_draw(parts),
            ballots=tuple(map(_ballot, parts.of(rows.BallotRow))),
            spoiled=tuple(map(_spoiled, parts.of(rows.SpoiledBallotRow))),
            tally=_tally(parts),
            synthesis=syntheses[0] if syntheses else None,
            closing=None if row.seconds is None else Closing(row.seconds, row.failure),
            forgotten=_forgotten(row),
            bakeoff=row.bakeoff,
        )
    )


def from_row(kind: type[T], row: Any, **values: object) -> T:  # noqa: ANN401
    """Return a dataclass whose fields are the row's columns of the same names, or in `values`."""
    names = {field.name for field in fields(kind)} - values.keys()  # type: ignore[arg-type]
    return kind(**{name: getattr(row, name) for name in names}, **values)


def _question(row: rows.RoundRow) -> Question:
    return from_row(Question, row, text=row.question, place=from_row(Place, row))


def _panel(row: rows.RoundRow) -> Panel:
    panel = validate("round.panel", PANEL.validate_python, row.panel)
    if panel.name != row.panel_name:
        raise ValueError(f"round.panel_name: {row.panel_name!r} is not what its panel is called.")
    return panel


def _forgotten(row: rows.RoundRow) -> Erasure | None:
    if row.forgotten_at is None:
        return None
    digests = validate("round.digests", DIGESTS.validate_python, row.digests)
    return Erasure(row.forgotten_at, row.salt, digests)


def _answer(row: rows.AnswerRow) -> Answer:
    exchange = {"prompt": _prompt(row), "reply": from_row(Reply, row)}
    marks = {"scrubbed": tuple(row.scrubbed), "suspicions": tuple(row.suspicions)}
    return from_row(Answer, row, **exchange, **marks)


def _absence(row: rows.AbsenceRow) -> Absence:
    return from_row(Absence, row, role=_parse_enum(Role, row.role, "absence.role"))


def _ballot(row: rows.BallotRow) -> Ballot:
    ranking = tuple(map(_labels, row.ranking))
    slate = {"shown": _labels(row.shown), "ranking": ranking}
    return from_row(Ballot, row, **slate, paper=_exchange(row), audit=row.audit or None)


def _spoiled(row: rows.SpoiledBallotRow) -> SpoiledBallot:
    return from_row(SpoiledBallot, row, paper=_exchange(row))


def _draw(parts: RoundRows) -> Draw | None:
    pairs = tuple((row.member, Label(row.label)) for row in parts.of(rows.LabelRow))
    slates = tuple(Slate(row.judge, _labels(row.shown)) for row in parts.of(rows.SlateRow))
    return Draw(LabelMap(pairs), slates) if pairs else None


def _tally(parts: RoundRows) -> Tally | None:
    verdicts = parts.of(rows.VerdictRow)
    if not verdicts:
        return None
    standings = tuple(
        from_row(Standing, row, label=Label(row.label)) for row in parts.of(rows.StandingRow)
    )
    return Tally(standings, _verdict(verdicts[0]))


def _verdict(row: rows.VerdictRow) -> Verdict:
    return from_row(
        Verdict,
        row,
        strength=_parse_enum(Strength, row.strength, "verdict.strength"),
        first_on=(row.first_on, row.first_of),
        agreement=from_row(Agreement, row),
        flags=tuple(row.flags),
    )


def _synthesis(row: rows.SynthesisRow) -> Synthesis:
    written = row.reply is not None
    if not written and any(getattr(row, name) is not None for name in REPLY_COLUMNS):
        raise ValueError("synthesis.reply: it is missing, and what belongs to it is there.")
    fallback = row.fallback and _parse_enum(Fallback, row.fallback, "synthesis.fallback")
    return from_row(
        Synthesis,
        row,
        fallback=fallback or None,
        drawn_on=_labels(row.drawn_on),
        prompt=_prompt(row) if written else None,
        reply=from_row(Reply, row, text=row.reply) if written else None,
    )


def _exchange(row: rows.BallotRow | rows.SpoiledBallotRow) -> BallotExchange:
    return from_row(BallotExchange, row, prompt=_prompt(row), reply=from_row(Reply, row))


def _prompt(row: Any) -> Prompt:  # noqa: ANN401
    return Prompt(row.prompt_system or "", row.prompt_user or "")


def _validate_row(table: type[Row], values: RowValues) -> Row:
    return validate(str(table.__tablename__), table.model_validate, values)


def _parse_enum(kind: type[Word], value: str, field: str) -> Word:
    if value not in set(kind):
        raise ValueError(f"{field}: {value!r} is none of {', '.join(kind)}.")
    return kind(value)


def _labels(names: Sequence[str]) -> tuple[Label, ...]:
    return tuple(map(Label, names))


# --- Validation


def validate(name: str, check: Callable[[object], T], value: object) -> T:
    """Return the value that `check` accepts; raise ValueError with the name of an invalid field."""
    try:
        return check(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, (name, *first["loc"])))
        raise ValueError(f"{field}: {first['msg']}.") from error


def skip_invalid(
    parse: Callable[[dict[str, Any]], T], rows_: Iterable[dict[str, Any]]
) -> Iterator[T]:
    """Yield what `parse` makes of each row, without those that it refuses with a StoreError."""
    for row in rows_:
        with suppress(StoreError):
            yield parse(row)


@contextmanager
def translate_validation_errors(kind: str, name: str) -> Iterator[None]:
    """Raise StoreError, with the name of the row, for a value that it cannot hold."""
    try:
        yield
    except (ValueError, PanelError) as error:
        raise StoreError(f"{kind} {name!r} holds what no {kind.lower()} can: {error}") from error
