"""What a round's page shows: its progress, then its results and rankings.

While a round runs, nothing here may show who wrote which answer.
"""

from dataclasses import dataclass

from bot.chat import Post, Prose, Step, Steps, StepState
from bot.render.formatting import author_names, seat_names
from bot.render.round_report.rankings import (
    ranking_notes,
    ranking_text,
    shown_text,
    slates_to_read,
    voter_title,
)
from bot.render.round_report.revealed import reason_by_name
from bot.render.round_status import WRITING, ballot_steps, progress_summary
from council.answers import Role
from council.ballots import Ballot
from council.labels import Slate
from council.methods import shown_method
from council.rounds import Draw, Round

# --- A running round


def blind_progress(round_: Round) -> Post:
    """Return the progress of a round, always in as many steps, so that nothing on the page moves.

    Answers are only counted: their authors' names would show who wrote the one that just appeared.
    """
    names = seat_names(round_.panel)
    missing = [
        f"{names[absence.member]} {absence.reason}"
        for absence in round_.absences
        if absence.role is Role.ANSWER
    ]
    detail = "; ".join((f"{len(round_.answers)} of {len(round_.panel.members)}", *missing))
    answers = Step("Answers", StepState.DONE if round_.draw else StepState.RUNNING, detail)
    method = shown_method(round_)
    ranks = [
        Step(f"{names[seat.key]} ranks", StepState.WAITING)
        for seat in method.judges(round_.panel)
        for _ in range(method.passes_of(round_, seat))
    ]
    writing = StepState.RUNNING if round_.tally else StepState.WAITING
    last = Step(WRITING, StepState.DONE if round_.synthesis else writing)
    steps = (answers, *(ballot_steps(round_) if round_.draw else ranks), last)
    summary = progress_summary(round_)
    return Post((Steps(summary, steps),), summary)


# --- A closed round


@dataclass(frozen=True, slots=True)
class RankingRow:
    """A judge's name, the authors of what it saw in order, its ballot if one counts, and notes.

    `ranked` and `reason` name the authors.
    """

    judge: str
    ballot: Ballot | None
    ranked: str
    shown: str
    reason: str
    notes: tuple[str, ...]


def late_answers(round_: Round) -> list[tuple[str, float, Prose]]:
    """Return who answered too late, after how many seconds and what."""
    names = seat_names(round_.panel)
    return [
        (names[late.member], late.reply.seconds, Prose(late.reply.text))
        for late in round_.late
        if late.role is Role.ANSWER and late.reply.text
    ]


def ranking_rows(round_: Round, draw: Draw) -> list[RankingRow]:
    """Return a row for each ranking that was asked for, in panel order of the judges."""
    slates = slates_to_read(round_, draw)
    last_of = {slate.judge: slate for slate in slates}
    return [
        _ranking_row(round_, draw, slate, is_last=slate is last_of[slate.judge]) for slate in slates
    ]


def _ranking_row(round_: Round, draw: Draw, slate: Slate, *, is_last: bool) -> RankingRow:
    names = author_names(round_.panel, draw)
    cast = {ballot.voter: ballot for ballot in round_.ballots if ballot.counts}
    ballot = cast.get(slate.voter)
    return RankingRow(
        judge=voter_title(round_, slate),
        ballot=ballot,
        ranked=ranking_text(ballot, names) if ballot else "",
        shown=shown_text(ballot) if ballot else "",
        reason=reason_by_name(round_, ballot, names) if ballot else "",
        notes=tuple(ranking_notes(round_, slate.judge)) if is_last else (),
    )
