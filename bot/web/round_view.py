"""What a round's page shows: its progress and blind answers, then its results and rankings.

While a round runs, nothing here may show who wrote which answer.
"""

from dataclasses import dataclass
from functools import lru_cache

from bot.chat import Prose, Step, StepState
from bot.render.formatting import author_names, seat_names
from bot.render.round_report import ordered_labels, ranking_notes, voter_title
from bot.render.round_status import WRITING, ballot_steps
from council.answers import Answer, Reply, Role
from council.ballots import Ballot
from council.labels import Label, Slate
from council.methods import method_of
from council.pipeline.session import identifying_names
from council.prompts.shared import anonymize_answer
from council.randomness import shuffle
from council.rounds import Draw, Round
from council.tally.standings import Standing

# --- A running round


@dataclass(frozen=True, slots=True)
class BlindAnswer:
    """An answer without its author; `label` is "" until all are in, `text` until it is written.

    The text of a missing answer is None.
    """

    label: str
    text: str | None


def blind_answers(round_: Round) -> tuple[BlindAnswer, ...]:
    """Return the answers in places that depend only on the seed, not on who wrote first."""
    written = {answer.member: answer for answer in round_.answers}
    keys = shuffle((seat.key for seat in round_.panel.members), round_.seed, "reading")
    return tuple(_blind_answer(round_, key, written.get(key)) for key in keys)


def _blind_answer(round_: Round, key: str, answer: Answer | None) -> BlindAnswer:
    if answer is None:
        return BlindAnswer("", None if round_.absence(key, Role.ANSWER) else "")
    label = round_.draw.labels.label_of(key) if round_.draw else None
    names = identifying_names(round_.panel.seat(key))
    text = _masked_text(answer.text, names) if answer.scrubbed else answer.text
    return BlindAnswer(label or "", text)


@lru_cache(maxsize=64)  # every event shows the same answers
def _masked_text(text: str, names: tuple[str, ...]) -> str:
    return anonymize_answer(text, names).text


def progress_steps(round_: Round) -> tuple[Step, ...]:
    """Return the steps of a running round, always as many, so that nothing on the page moves.

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
    method = method_of(round_)
    ranks = [
        Step(f"{names[seat.key]} ranks", StepState.WAITING)
        for seat in method.judges(round_.panel)
        for _ in range(method.passes)
    ]
    writing = StepState.RUNNING if round_.tally else StepState.WAITING
    last = Step(WRITING, StepState.DONE if round_.synthesis else writing)
    return (answers, *(ballot_steps(round_) if round_.draw else ranks), last)


# --- A closed round

Result = tuple[Label, str, Standing | None, Reply]
Ranking = tuple[str, Slate, Ballot | None, tuple[str, ...]]


def result_rows(round_: Round, draw: Draw) -> list[Result]:
    """Return each answer's label, author, standing if it was ranked, and reply, best first."""
    names = author_names(round_.panel, draw)
    standings = {line.label: line for line in (round_.tally.standings if round_.tally else ())}
    replies = {draw.labels.label_of(answer.member): answer.reply for answer in round_.revised}
    labels = ordered_labels(round_, draw)
    return [(label, names[label], standings.get(label), replies[label]) for label in labels]


def late_answers(round_: Round) -> list[tuple[str, float, Prose]]:
    """Return who answered too late, after how many seconds and what."""
    names = seat_names(round_.panel)
    return [
        (names[late.member], late.reply.seconds, Prose(late.reply.text))
        for late in round_.late
        if late.role is Role.ANSWER and late.reply.text
    ]


def ranking_rows(round_: Round, draw: Draw) -> list[Ranking]:
    """Return each judge's name, slate, ballot if one counts, and notes, in panel order."""
    cast = {ballot.voter: ballot for ballot in round_.ballots if ballot.counts}
    slates = method_of(round_).slates(round_, draw)
    last_of = {slate.judge: slate for slate in slates}
    return [
        (
            voter_title(round_, slate),
            slate,
            cast.get(slate.voter),
            (*ranking_notes(round_, slate.judge),) if slate is last_of[slate.judge] else (),
        )
        for slate in slates
    ]
