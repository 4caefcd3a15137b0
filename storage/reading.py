"""From rows to a round."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from pydantic import TypeAdapter
from sqlmodel import SQLModel

from council.answers import Absence, Answer, Prompt, Reply, Role
from council.ballots import Ballot, Paper, SpoiledBallot
from council.digests import Digests, Forgotten
from council.labels import Label, LabelMap, Slate
from council.panel import Panel
from council.places import Place
from council.rounds import Closing, Draw, Fallback, Question, Round, Synthesis, in_panel_order
from council.tally import Standing, Strength, Tally, Verdict
from council.tally.agreement import Agreement
from storage import rows
from storage.valid import told_by_field, valid
from storage.writing import PANEL

Row = TypeVar("Row", bound=SQLModel)
Word = TypeVar("Word", bound=StrEnum)
Found = Mapping[str, Any]  # a row as the database gives it, by column

BALLOT = TypeAdapter(Ballot)
DIGESTS = TypeAdapter(Digests)
# What a synthesis that no chairman wrote has not.
OF_REPLY = (
    *("prompt_system", "prompt_user", "cut", "attempts", "seconds"),
    *("tokens_in", "tokens_out", "cost_usd"),
)

PARTS: tuple[type[Any], ...] = (
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


class Parts:
    """The rows of one round, by table."""

    def __init__(self, found: Mapping[type[Any], Sequence[Found]]) -> None:
        self._found = found

    def of(self, table: type[Row]) -> Sequence[Row]:
        """Give the rows of a table, in the order the round holds them; ValueError for a gap."""
        valid = [_row(table, found) for found in self._found[table]]
        if not hasattr(table, "position"):
            return valid
        in_order = {getattr(row, "position", None): row for row in valid}
        if in_order.keys() != {*range(len(valid))}:
            raise ValueError(f"{table.__tablename__}.position: they do not run from 0 on.")
        return [in_order[position] for position in range(len(valid))]


def round_from(found: Found, parts: Parts) -> Round:
    """Give the round its rows hold, in panel order; StoreError where no round can hold that."""
    with told_by_field("Round", found["id"]):
        return _round(_row(rows.RoundRow, found), parts)


def past_ballot_from(found: Found) -> Ballot:
    """Give what was counted of a ballot: all but its paper."""
    with told_by_field("Round", found["round_id"]):
        return valid("ballot", BALLOT.validate_python, found)


def _round(row: rows.RoundRow, parts: Parts) -> Round:
    syntheses = [_synthesis(found) for found in parts.of(rows.SynthesisRow)]
    return in_panel_order(
        Round(
            id=row.id,
            question=_question(row),
            panel=_panel(row),
            seed=row.seed,
            asked_at=row.asked_at,
            # JSONB has an order of its own.
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


def place_from(row: Any) -> Place:  # noqa: ANN401
    """Give the place in which a round was asked for, from its row or a query's."""
    return Place(row.chat, row.workspace, row.channel, row.thread, row.private)


def _question(row: rows.RoundRow) -> Question:
    return Question(row.question, row.asked_by, row.context, place_from(row), row.reference)


def _panel(row: rows.RoundRow) -> Panel:
    panel = valid("round.panel", PANEL.validate_python, row.panel)
    if panel.name != row.panel_name:
        raise ValueError(f"round.panel_name: {row.panel_name!r} is not what its panel is called.")
    return panel


def _forgotten(row: rows.RoundRow) -> Forgotten | None:
    if row.forgotten_at is None:
        return None
    digests = valid("round.digests", DIGESTS.validate_python, row.digests)
    return Forgotten(row.forgotten_at, row.salt, digests)


def _answer(row: rows.AnswerRow) -> Answer:
    return Answer(row.member, _prompt(row), _reply(row), tuple(row.scrubbed), tuple(row.suspicions))


def _absence(row: rows.AbsenceRow) -> Absence:
    return Absence(row.member, _known(Role, row.role, "absence.role"), row.reason)


def _ballot(row: rows.BallotRow) -> Ballot:
    return Ballot(
        judge=row.judge,
        shown=_labels(row.shown),
        ranking=tuple(map(_labels, row.ranking)),
        reason=row.reason,
        paper=_paper(row),
        audit=row.audit or None,
    )


def _spoiled(row: rows.SpoiledBallotRow) -> SpoiledBallot:
    return SpoiledBallot(row.judge, row.fault, _paper(row))


def _draw(parts: Parts) -> Draw | None:
    pairs = tuple((row.member, Label(row.label)) for row in parts.of(rows.LabelRow))
    slates = tuple(Slate(row.judge, _labels(row.shown)) for row in parts.of(rows.SlateRow))
    return Draw(LabelMap(pairs), slates) if pairs else None


def _tally(parts: Parts) -> Tally | None:
    found = parts.of(rows.VerdictRow)
    if not found:
        return None
    lines = tuple(
        Standing(
            Label(row.label),
            row.place,
            row.share,
            row.points,
            row.max_points,
            row.first_votes,
            row.mean_rank,
        )
        for row in parts.of(rows.StandingRow)
    )
    return Tally(lines, _verdict(found[0]))


def _verdict(row: rows.VerdictRow) -> Verdict:
    return Verdict(
        strength=_known(Strength, row.strength, "verdict.strength"),
        p=row.p,
        first_on=(row.first_on, row.first_of),
        too_few_judges=row.too_few_judges,
        agreement=Agreement(row.tau_b, row.kendall_w, row.alpha),
        n_eff=row.n_eff,
        flags=tuple(row.flags),
    )


def _synthesis(row: rows.SynthesisRow) -> Synthesis:
    written = row.reply is not None
    if not written and any(getattr(row, name) is not None for name in OF_REPLY):
        raise ValueError("synthesis.reply: it is missing, and what belongs to it is there.")
    return Synthesis(
        text=row.text,
        chairman=row.chairman,
        fallback=_known(Fallback, row.fallback, "synthesis.fallback") if row.fallback else None,
        drawn_on=_labels(row.drawn_on),
        departs=row.departs,
        why=row.why,
        prompt=_prompt(row) if written else None,
        reply=_reply(row, row.reply) if row.reply is not None else None,
    )


def _paper(row: rows.BallotRow | rows.SpoiledBallotRow) -> Paper:
    return Paper(row.nonce, _prompt(row), _reply(row), row.attempt, row.cut_to)


def _prompt(row: Any) -> Prompt:  # noqa: ANN401
    return Prompt(row.prompt_system or "", row.prompt_user or "")


def _reply(row: Any, text: str | None = None) -> Reply:  # noqa: ANN401
    return Reply(
        text=row.text if text is None else text,
        cut=row.cut,
        tokens_in=row.tokens_in,
        tokens_out=row.tokens_out,
        cost_usd=row.cost_usd,
        seconds=row.seconds,
        attempts=row.attempts,
    )


def _row(table: type[Row], found: Found) -> Row:
    return valid(str(table.__tablename__), table.model_validate, found)


def _known(kind: type[Word], value: str, field: str) -> Word:
    if value not in set(kind):
        raise ValueError(f"{field}: {value!r} is none of {', '.join(kind)}.")
    return kind(value)


def _labels(names: Sequence[str]) -> tuple[Label, ...]:
    return tuple(map(Label, names))
