"""Map rounds to table rows and back, validating every row that is read."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields, replace
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from sqlmodel import SQLModel

from council.answers import Absence, Answer, Exchange, LateReply, Scores
from council.ballots import Ballot, SpoiledBallot
from council.digests import Digests, Erasure
from council.errors import PanelError, StoreError
from council.files import QuestionFile
from council.labels import Label, LabelMap, Slate
from council.panel import Panel
from council.people import ThreadReading
from council.places import Place
from council.rounds import (
    Artefact,
    Closing,
    Decision,
    Draw,
    Question,
    Round,
    Synthesis,
    sort_by_panel,
)
from council.tally import Standing, Tally, Verdict
from council.tally.flags import parse_flag
from storage import tables as rows
from storage.validation import describe_fault

T = TypeVar("T")
RowValues = Mapping[str, Any]  # the values of a row, by column
RowsByTable = Mapping[type[SQLModel], Sequence[RowValues]]  # of one round

PANEL = TypeAdapter(Panel)
FILES = TypeAdapter(tuple[QuestionFile, ...])
BALLOT = TypeAdapter(Ballot)
SCORES = TypeAdapter(Scores)
DIGESTS = TypeAdapter(Digests)
QUOTES = TypeAdapter(tuple[str, ...] | None)
ERASURE = TypeAdapter(Erasure)
READING = TypeAdapter(ThreadReading | None)
REDACTED = TypeAdapter(Erasure | None)
SYNTHESIS = TypeAdapter(Synthesis)
DECISION = TypeAdapter(Decision)
VERDICT = TypeAdapter(Verdict)
_PARSERS: dict[type[SQLModel], Callable[[object], Any]] = {
    rows.AnswerRow: TypeAdapter(Answer).validate_python,
    rows.AbsenceRow: TypeAdapter(Absence).validate_python,
    rows.LateReplyRow: TypeAdapter(LateReply).validate_python,
    rows.ExchangeRow: TypeAdapter(Exchange).validate_python,
    rows.LabelRow: rows.LabelRow.model_validate,
    rows.SlateRow: TypeAdapter(Slate).validate_python,
    rows.BallotRow: BALLOT.validate_python,
    rows.SpoiledBallotRow: TypeAdapter(SpoiledBallot).validate_python,
    rows.StandingRow: TypeAdapter(Standing).validate_python,
}
NESTED = {"agreement", "paper", "prompt", "reply"}  # fields whose values are in their owner's row
# The columns of a synthesis that are null if no chairman wrote it.
REPLY_COLUMNS = (
    "prompt_system",
    "prompt_user",
    "cut",
    "attempts",
    "seconds",
    "tokens_in",
    "tokens_out",
    "cost_usd",
)

PART_TABLES: tuple[type[Any], ...] = (
    rows.AnswerRow,
    rows.AbsenceRow,
    rows.LateReplyRow,
    rows.ExchangeRow,
    rows.LabelRow,
    rows.SlateRow,
    rows.BallotRow,
    rows.SpoiledBallotRow,
    rows.StandingRow,
    rows.VerdictRow,
    rows.SynthesisRow,
    rows.DecisionRow,
)
TABLES: dict[type, type[SQLModel]] = {
    Answer: rows.AnswerRow,
    Absence: rows.AbsenceRow,
    LateReply: rows.LateReplyRow,
    Exchange: rows.ExchangeRow,
    Ballot: rows.BallotRow,
    SpoiledBallot: rows.SpoiledBallotRow,
}


# --- From a round to rows


def round_row(round_: Round) -> rows.RoundRow:
    """Return the round's own row, without its artefacts."""
    return rows.RoundRow(
        id=round_.id,
        asked_by=round_.question.asked_by,
        **asdict(round_.question.place),
        asked_at=round_.asked_at,
        panel_name=round_.panel.name,
        panel=PANEL.dump_python(round_.panel, mode="json"),
        seed=round_.seed,
        versions=dict(round_.versions),
        bakeoff=round_.bakeoff,
        **(asdict(round_.closing) if round_.closing else {}),
        **erasure_columns(round_),
    )


def part_rows(round_: Round) -> Iterator[SQLModel]:
    """Yield the rows of all artefacts of the round, table by table."""
    for artefact in list_artefacts(round_):
        yield from artefact_rows(artefact, round_.id)
    for number, decision in enumerate(round_.decisions, start=1):
        yield decision_row(decision, round_.id, number)


def decision_row(decision: Decision, round_id: str, number: int) -> rows.DecisionRow:
    """Return the row of the decision on a round that is made as the `number`th."""
    return rows.DecisionRow(
        round_id=round_id,
        number=number,
        key=decision.key,
        by=decision.by,
        at=decision.at,
        choices=[[one.point, one.says] for one in decision.choices],
        **{
            name: _with_lists(value)
            for name, value in _synthesis_columns(decision.synthesis).items()
        },
    )


def list_artefacts(round_: Round) -> list[Artefact]:
    """Return the artefacts of a round without its closing, one kind after another."""
    several: tuple[Artefact, ...] = (
        *round_.answers,
        *round_.absences,
        *round_.late,
        *round_.exchanges,
        *round_.ballots,
        *round_.spoiled,
    )
    single = (round_.draw, round_.tally, round_.synthesis)
    return [*several, *(artefact for artefact in single if artefact)]


def artefact_rows(artefact: Artefact, round_id: str) -> Iterator[SQLModel]:
    """Yield the rows of an artefact; a closing has none, because it is in the round's own row.

    The first row has the key that any other artefact for the same place would have.
    """
    for table, values in _artefact_columns(artefact):
        columns = {name: _with_lists(value) for name, value in values.items()}
        yield table(round_id=round_id, **columns)


def _artefact_columns(artefact: Artefact) -> Iterator[tuple[type[SQLModel], dict[str, Any]]]:
    if isinstance(artefact, Draw):
        for i, (member, label) in enumerate(artefact.labels.pairs):
            yield rows.LabelRow, {"member": member, "label": label, "position": i}
        for i, slate in enumerate(artefact.slates):
            yield rows.SlateRow, asdict(slate) | {"position": i}
    elif isinstance(artefact, Tally):
        verdict = asdict(artefact.verdict)
        verdict["first_on"], verdict["first_of"] = verdict["first_on"]
        verdict["flags"] = [*map(str, artefact.verdict.flags)]
        yield rows.VerdictRow, verdict | verdict.pop("agreement")
        for i, standing in enumerate(artefact.standings):
            yield rows.StandingRow, asdict(standing) | {"position": i}
    elif isinstance(artefact, Synthesis):
        yield rows.SynthesisRow, _synthesis_columns(artefact)
    else:
        yield TABLES[type(artefact)], _unnested(asdict(artefact))


def _synthesis_columns(synthesis: Synthesis) -> dict[str, Any]:
    written = {"reply": synthesis.reply.text} if synthesis.reply else {}
    return _unnested(asdict(synthesis)) | written | {"text": synthesis.text}


def _unnested(values: dict[str, Any]) -> dict[str, Any]:
    """Return values by column: prompt, reply and ballot exchange are in the row of the artefact."""
    if "paper" in values and values["paper"] is None:
        raise StoreError(
            f"The ranking of {values['judge']!r} has no source text, so it can't be recomputed "
            "and is not saved."
        )
    values |= values.pop("paper", {})
    if origin := values.get("origin"):
        values["origin"] = {**origin, "asked_at": origin["asked_at"].isoformat()}
    if "audit" in values:
        values["audit"] = values["audit"] or ""
    prompt, reply = values.pop("prompt", None) or {}, values.pop("reply", None) or {}
    return {**values, **{f"prompt_{name}": text for name, text in prompt.items()}, **reply}


def _with_lists(value: Any) -> Any:  # noqa: ANN401
    return [*map(_with_lists, value)] if isinstance(value, tuple) else value


def erasure_columns(round_: Round) -> dict[str, Any]:
    """Return the columns of the round's row that forgetting changes."""
    redacted, forgotten = round_.redacted, round_.forgotten
    columns = _question_columns(round_)
    columns["redacted"] = ERASURE.dump_python(redacted, mode="json") if redacted else None
    if redacted:
        columns["salt"] = redacted.salt
    if forgotten:
        columns |= {"forgotten_at": forgotten.at, "salt": forgotten.salt}
        columns["digests"] = _with_lists(forgotten.digests)
    return columns


def _question_columns(round_: Round) -> dict[str, Any]:
    question = round_.question
    return {
        "question": question.text,
        "context": question.context,
        "reference": question.reference,
        "rubric": question.rubric,
        "instructions": question.instructions,
        "answer_schema": question.answer_schema,
        "files": [asdict(file) for file in question.files],
        "quotes": _with_lists(question.quotes),
        "reading": READING.dump_python(question.reading, mode="json"),
    }


# --- From rows to a round


def round_from_rows(row_values: RowValues, parts: RowsByTable) -> Round:
    """Return a round in panel order; raise StoreError for values that no round can hold."""
    with translate_validation_errors("Round", row_values["id"]):
        row = validate("round", rows.RoundRow.model_validate, row_values)
        syntheses = [_synthesis(values) for values in parts[rows.SynthesisRow]]
        return complete_round(
            Round(
                id=row.id,
                question=from_row(
                    Question,
                    row,
                    text=row.question,
                    place=from_row(Place, row),
                    files=validate("round.files", FILES.validate_python, row.files),
                    quotes=validate("round.quotes", QUOTES.validate_python, row.quotes),
                    reading=validate("round.reading", READING.validate_python, row.reading),
                ),
                panel=_panel(row),
                seed=row.seed,
                asked_at=row.asked_at,
                # JSONB does not preserve the order of keys.
                versions=tuple(sorted(row.versions.items())),
                answers=_parse_all(rows.AnswerRow, parts),
                absences=_parse_all(rows.AbsenceRow, parts),
                late=_parse_all(rows.LateReplyRow, parts),
                exchanges=_parse_all(rows.ExchangeRow, parts),
                draw=_draw(parts),
                ballots=_parse_all(rows.BallotRow, parts),
                spoiled=_parse_all(rows.SpoiledBallotRow, parts),
                tally=_tally(parts),
                synthesis=syntheses[0] if syntheses else None,
                closing=None if row.seconds is None else Closing(row.seconds, row.failure),
                forgotten=_erasure(row),
                bakeoff=row.bakeoff,
                redacted=validate("round.redacted", REDACTED.validate_python, row.redacted),
                decisions=_decisions(parts),
            )
        )


def complete_round(round_: Round) -> Round:
    """Return a round as it was read in panel order, with its stored sentences parsed as flags."""
    if round_.tally:
        seats = {seat.key for seat in round_.panel.seats}
        verdict = round_.tally.verdict
        flags = tuple(parse_flag(str(flag), seats) for flag in verdict.flags)
        tally = replace(round_.tally, verdict=replace(verdict, flags=flags))
        round_ = replace(round_, tally=tally)
    return sort_by_panel(round_)


def past_ballot_from_row(values: RowValues) -> Ballot:
    """Return a ballot without the exchange it was parsed from; raise StoreError if invalid."""
    with translate_validation_errors("Round", values["round_id"]):
        return validate("ballot", BALLOT.validate_python, values)


def from_row(kind: type[T], row: Any, **values: object) -> T:  # noqa: ANN401
    """Return a dataclass whose fields are the row's columns of the same names, or in `values`."""
    names = {field.name for field in fields(kind)} - values.keys()  # type: ignore[arg-type]
    return kind(**{name: getattr(row, name) for name in names}, **values)


def _panel(row: rows.RoundRow) -> Panel:
    panel = validate("round.panel", PANEL.validate_python, row.panel)
    if panel.name != row.panel_name:
        raise ValueError(f"round.panel_name: {row.panel_name!r} is not the name of its panel.")
    return panel


def _erasure(row: rows.RoundRow) -> Erasure | None:
    if row.forgotten_at is None:
        return None
    digests = validate("round.digests", DIGESTS.validate_python, row.digests)
    return Erasure(row.forgotten_at, row.salt, digests)


def _parse_all(table: type[SQLModel], parts: RowsByTable) -> tuple[Any, ...]:
    """Return the artefacts in a table's rows, by position; raise ValueError for a gap."""
    table_rows = parts[table]
    if hasattr(table, "position"):
        in_order = {row["position"]: row for row in table_rows}
        if in_order.keys() != {*range(len(table_rows))}:
            raise ValueError(
                f"{table.__tablename__}.position: the positions do not count up from 0."
            )
        table_rows = [in_order[position] for position in range(len(table_rows))]
    name, parse = str(table.__tablename__), _PARSERS[table]
    return tuple(validate(name, parse, _nested(row), NESTED) for row in table_rows)


def _nested(row: RowValues) -> dict[str, Any]:
    """Return the values of a row, and those of the prompt, reply and exchange that are in it."""
    prompt = {"system": row.get("prompt_system") or "", "user": row.get("prompt_user") or ""}
    values = {**row, "audit": row.get("audit") or None, "prompt": prompt, "reply": row}
    return values | {"paper": values}


def _draw(parts: RowsByTable) -> Draw | None:
    pairs = tuple((row.member, Label(row.label)) for row in _parse_all(rows.LabelRow, parts))
    slates = _parse_all(rows.SlateRow, parts)
    return Draw(LabelMap(pairs), slates) if pairs else None


def _tally(parts: RowsByTable) -> Tally | None:
    for row in parts[rows.VerdictRow]:
        values = {**row, "first_on": (row["first_on"], row["first_of"]), "agreement": row}
        verdict = validate("verdict", VERDICT.validate_python, values, NESTED)
        return Tally(_parse_all(rows.StandingRow, parts), verdict)
    return None


def _synthesis(row: RowValues) -> Synthesis:
    values = {**row, "fallback": row["fallback"] or None, "prompt": None}
    if row["reply"] is not None:
        values |= {"prompt": _nested(row)["prompt"], "reply": {**row, "text": row["reply"]}}
    elif any(row[name] is not None for name in REPLY_COLUMNS):
        raise ValueError("synthesis.reply: it is missing, although its other values are there.")
    return validate("synthesis", SYNTHESIS.validate_python, values, NESTED)


def _decisions(parts: RowsByTable) -> tuple[Decision, ...]:
    in_order = sorted(parts[rows.DecisionRow], key=lambda row: row["number"])
    return tuple(_decision(row) for row in in_order)


def _decision(row: RowValues) -> Decision:
    values = {name: row[name] for name in ("key", "by", "at")}
    choices = [{"point": point, "says": says} for point, says in row["choices"]]
    # Its fields are columns of the same row.
    written = {"choices": choices, "synthesis": _synthesis(row)}
    return validate("decision", DECISION.validate_python, values | written)


# --- Validation


def validate(
    name: str, check: Callable[[object], T], value: object, omitted: Container[object] = ()
) -> T:
    """Return the value that `check` accepts; raise ValueError with the name of an invalid field.

    The name leaves out the `omitted` parts.
    """
    try:
        return check(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in (name, *first["loc"]) if part not in omitted)
        if first["type"] == "enum":
            raise ValueError(
                f"{field}: {first['input']!r} is none of {first['ctx']['expected']}."
            ) from error
        raise ValueError(f"{field}: {describe_fault(first)}.") from error


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
        raise StoreError(f"{kind} {name!r} has invalid values: {error}") from error
