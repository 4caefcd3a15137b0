"""Renderer of bake-offs: proposal, progress, result, JSON, and a Markdown comparison."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from bot.bakeoffs.render.headline import headline, missing_lines
from bot.bakeoffs.render.leaderboard import leaderboard_thread, short_table
from bot.bakeoffs.render.leaderboard_export import Document, leaderboard_document
from bot.bakeoffs.render.leaderboard_tables import (
    Leaderboard,
    author_table,
    lead_text,
    percent,
    tie_note,
)
from bot.bakeoffs.render.leaderboard_text import (
    change_lines,
    comparison_line,
    few_change_lines,
    no_change_line,
)
from bot.bakeoffs.render.matrix import cell_documents, comparison_document
from bot.bakeoffs.render.schedules import (
    EXTRA_RUN,
    next_run_line,
    pause_button,
    run_button,
    subscribe_button,
)
from bot.bakeoffs.render.suites import check_lines, graded_text
from bot.chat import (
    Button,
    Buttons,
    Caution,
    Heading,
    Line,
    Mentions,
    Note,
    Part,
    Post,
    Step,
    Steps,
    StepState,
    Table,
    Thread,
)
from bot.render.formatting import (
    count_noun,
    duration,
    join_words,
    max_cost_text,
    rough_duration,
    seat_names,
    spending_text,
)
from bot.render.markdown import thread_markdown
from bot.render.round_status import seat_receivers
from bot.render.text_safety import shorten_to_line
from council.bakeoffs.changes import Changes, Measure
from council.bakeoffs.matrix import RunMatrix, compare_methods
from council.bakeoffs.models import Bakeoff, BakeoffEstimate, BakeoffProgress, Schedule
from council.money import MICRO_USD, format_rounded_usd, format_usd
from council.panel import Member

_MAX_FAILURES_SHOWN = 20  # failed questions listed one by one


# --- Posts

START, LEAVE = "bakeoff_start", "bakeoff_leave"
CANCEL, RESUME = "bakeoff_cancel", "bakeoff_resume"
RESULTS, QUESTIONS = "bakeoff_results", "bakeoff_questions"
TRY = "bakeoff_try"  # opens a form
ENDED_EARLY = "ended early"
MAX_BUTTONS = 5  # a row that fits a phone


@dataclass(frozen=True, slots=True)
class Frame:
    """What surrounds a bake-off's posts in a chat: the schedule that ran it, and the time."""

    now: datetime
    schedule: Schedule | None = None

    def title(self, bakeoff: Bakeoff, what: str) -> str:
        """Return the title of a post; a bake-off without a schedule has its suite and panel."""
        if self.schedule:
            return f"{self.schedule.name}: {what}"
        title = bakeoff_title(bakeoff)
        return f"{title} {what}" if what == ENDED_EARLY else title

    def next_run(self) -> Iterator[Note]:
        """Yield when the schedule runs next, in the reader's time zone, unless it is paused."""
        if self.schedule:
            yield Note(next_run_line(self.schedule, self.now))

    def buttons(self, progress: BakeoffProgress, *, has_failed: bool = False) -> Buttons:
        """Return the buttons of a post, at most MAX_BUTTONS."""
        bakeoff, schedule = progress.bakeoff, self.schedule
        shown = [Button(RESUME, "Resume", bakeoff.id)] if has_failed else []
        if progress.over:
            shown.append(Button(RESULTS, "Results", bakeoff.id))
            shown.append(Button(QUESTIONS, "Questions", bakeoff.id))
        if schedule:
            shown.append(subscribe_button(schedule))
            shown += [] if has_failed else [run_button(schedule)]
            shown.append(pause_button(schedule))
        if progress.is_complete and bakeoff.ending and len(shown) < MAX_BUTTONS:
            shown.append(Button(TRY, "Try another model", bakeoff.id))
        return Buttons(tuple(shown))


def bakeoff_title(bakeoff: Bakeoff) -> str:
    """Return the title of a bake-off."""
    if trial := bakeoff.panel.trial:
        names = seat_names(bakeoff.panel)
        pair = f"{names[trial.candidate]} against {names[trial.incumbent]}"
        return f"Try of {pair} on {bakeoff.suite.name}"
    return f"Bake-off of {bakeoff.suite.name} by {bakeoff.panel.name}"


def bakeoff_state(progress: BakeoffProgress) -> str:
    """Return the state of a bake-off in a few words."""
    ending = progress.bakeoff.ending
    if progress.is_complete and ending and not ending.failure:
        failed = f", {len(progress.failed)} failed" if progress.failed else ""
        asked = f"{progress.over} of " if progress.over < progress.questions else ""
        return f"{asked}{_count(progress, progress.questions)}{failed}"
    state = "stopped" if ending else "under way"
    return f"{state}, {progress.over} of {progress.questions}"


def _count(progress: BakeoffProgress, count: int) -> str:
    """Return so many questions; so many rounds if each is asked under several methods."""
    return count_noun(count, "round" if progress.bakeoff.suite.methods else "question")


def running_post(progress: BakeoffProgress, asker: str, frame: Frame | None = None) -> Post:
    """Return the progress of a bake-off, with a cancel button."""
    summary, title = progress_summary(progress), _title(progress, frame, "running")
    notes = [_spent_line(progress)]
    notes += [_suite_changed_line(progress)] if progress.changed else []
    notes += [f"Asked by {asker}"] if asker else []
    parts: tuple[Part, ...] = (
        Heading(title),
        Steps(summary, tuple(_steps(progress))),
        *map(Note, notes),
        Buttons((Button(CANCEL, "Cancel", progress.bakeoff.id),)),
    )
    return Post(parts, f"{title} · {summary}")


def _title(progress: BakeoffProgress, frame: Frame | None, what: str) -> str:
    return frame.title(progress.bakeoff, what) if frame else bakeoff_title(progress.bakeoff)


def progress_summary(progress: BakeoffProgress) -> str:
    """Return how far it is: "5 of 12 questions, about 2 min left"."""
    count = f"{progress.over} of {_count(progress, progress.questions)}"
    if progress.seconds_left is None:
        return count
    return f"{count}, about {rough_duration(progress.seconds_left)} left"


def _steps(progress: BakeoffProgress) -> Iterator[Step]:
    done, missing = progress.over - len(progress.failed), len(progress.failed)
    if done:
        yield Step(f"{_count(progress, done)} answered and ranked", StepState.DONE)
    if missing:
        last = progress.failed[-1]
        detail = f"question {last.number}: {last.why}"
        yield Step(f"{_count(progress, missing)} failed", StepState.MISSING, detail)
    if progress.under_way:
        yield Step(f"{_count(progress, progress.under_way)} under way", StepState.RUNNING)
    if progress.waiting:
        yield Step(f"{_count(progress, progress.waiting)} waiting", StepState.WAITING)


def _spent_line(progress: BakeoffProgress) -> str:
    """Return what is spent: "$0.12 of $1.50 spent"."""
    return spending_text(progress.spending, progress.bakeoff.cap_micro)


def _suite_changed_line(progress: BakeoffProgress) -> str:
    name = progress.bakeoff.suite.name
    return f"Suite {name} has changed since this bake-off started, which keeps the old questions."


def stopped_post(progress: BakeoffProgress, why: str, frame: Frame | None = None) -> Post:
    """Return a stopped bake-off: why, how far it came, and a resume button."""
    title = _title(progress, frame, "stopped")
    summary = progress_summary(replace(progress, seconds_left=None))
    note = Note(f"{summary} · {_spent_line(progress)}")
    hint = failure_hint(progress, why, frame)
    return Post((Heading(title), hint, note, _resume_button(progress.bakeoff)), f"{title} · {why}")


def failure_post(progress: BakeoffProgress, why: str, frame: Frame | None = None) -> Post:
    """Return why a bake-off ended early, as a separate post that mentions subscribers."""
    title = (frame or Frame(progress.bakeoff.at)).title(progress.bakeoff, ENDED_EARLY)
    subscribers = frame.schedule.subscribers if frame and frame.schedule else ()
    parts: list[Part] = [Heading(title), failure_hint(progress, why, frame)]
    if frame:
        parts += frame.next_run()
    parts += [Mentions(subscribers)] if subscribers else []
    resume = _resume_button(progress.bakeoff)
    parts.append(frame.buttons(progress, has_failed=True) if frame else resume)
    return Post(tuple(parts), f"{title}: {why}")


def failure_hint(progress: BakeoffProgress, why: str, frame: Frame | None) -> Caution:
    """Return why a bake-off ended early, and how to resume it."""
    count = f"{progress.over} of {_count(progress, progress.questions)}"
    how = "" if frame else f" Resume with `/council bakeoff resume {progress.bakeoff.typed_name}`;"
    return Caution(f"{why} {count} are saved.{how or ' Resume it:'} nothing is asked twice.")


def _resume_button(bakeoff: Bakeoff) -> Buttons:
    return Buttons((Button(RESUME, "Resume", bakeoff.id),))


def room_result_thread(
    progress: BakeoffProgress,
    frame: Frame,
    board: Leaderboard | None,
    methods: Post | None = None,
    picture: bytes = b"",
) -> Thread:
    """Return the result of a bake-off for a room: its outcome first, and the rest by button.

    `board` has its leaderboard, if there is one; `picture` is its chart. A bake-off of several
    methods has them next to each other in `methods`.
    """
    failure, rows = _failure(progress), board.board.rows if board else ()
    title = frame.title(progress.bakeoff, ENDED_EARLY if failure else "results")
    if frame.schedule is None:
        title = bakeoff_title(progress.bakeoff)
    outcome = _outcome_text(progress, board if rows and not methods else None)
    parts: list[Part] = [Heading(title)]
    if progress.failed:
        parts.append(Caution(_failed_line(progress)))
    if board and rows and not methods:
        parts += map(Caution, missing_lines(board))
    parts.append(failure_hint(progress, failure, frame) if failure else Line(outcome))
    if methods:
        parts += [part for part in methods.parts if not isinstance(part, Heading)]
    elif board and rows:
        parts += _board_parts(board, with_changes=not frame.schedule)  # else they are news
    parts.append(Note(_facts_line(progress, frame)))
    parts += map(Note, [_suite_changed_line(progress)] if progress.changed else [])
    parts += map(Note, check_lines(progress.bakeoff.suite))
    parts += [*frame.next_run(), frame.buttons(progress, has_failed=bool(failure))]
    replies = leaderboard_thread(board, picture).replies if board and rows and not methods else ()
    root = Post(tuple(parts), f"{title} · {failure or outcome}")
    return Thread(root, (*failed_posts(progress), *replies))


def _outcome_text(progress: BakeoffProgress, board: Leaderboard | None) -> str:
    """Return the outcome of a bake-off in a sentence: who leads, else how many finished."""
    if outcome := headline(board) if board else "":
        return outcome
    total, done = progress.questions, progress.over - len(progress.failed)
    if not done:
        return "No question was answered."
    finished = "are finished" if total != 1 else "is finished"
    return f"{done} of {_count(progress, total)} {finished}."


def _board_parts(board: Leaderboard, *, with_changes: bool) -> Iterator[Part]:
    if with_changes and board.changes:
        yield from map(Line, few_change_lines(board.changes, board.names))
    table = short_table(board)
    yield table
    notes = []
    if (others := len(board.board.rows) - len(table.rows)) > 0:
        notes.append(f"{count_noun(others, 'more model')} under Results.")
    notes.append(tie_note(board.board.rows[: len(table.rows)]))
    yield from map(Note, filter(None, [" ".join(filter(None, notes))]))


def _facts_line(progress: BakeoffProgress, frame: Frame | None) -> str:
    bakeoff = progress.bakeoff
    facts = [f"{bakeoff.suite.name} by {bakeoff.panel.name}"] if frame and frame.schedule else []
    facts.append(progress_summary(progress))
    if bakeoff.ending:
        facts.append(duration((bakeoff.ending.at - bakeoff.at).total_seconds()))
    return " · ".join([*facts, _spent_line(progress)])


def result_thread(
    progress: BakeoffProgress, board: Thread | None, *, linked: bool = False
) -> Thread:
    """Return the result of a bake-off, complete or not; `board` is its leaderboard.

    It is for the page and the terminal. If its rounds are `linked` next to it, the hint how to open
    one is left out.
    """
    parts = tuple(_result_parts(progress, board.root if board else None, linked=linked))
    outcome = _failure(progress) or progress_summary(progress)
    root = Post(parts, f"{bakeoff_title(progress.bakeoff)} · {outcome}")
    return Thread(root, (*failed_posts(progress), *(board.replies if board else ())))


def _failure(progress: BakeoffProgress) -> str | None:
    return progress.bakeoff.ending.failure if progress.bakeoff.ending else None


def _result_parts(progress: BakeoffProgress, board: Post | None, *, linked: bool) -> Iterator[Part]:
    bakeoff, failure = progress.bakeoff, _failure(progress)
    yield Heading(bakeoff_title(bakeoff))
    if failure:
        yield failure_hint(progress, failure, None)
    if progress.failed:
        yield Caution(_failed_line(progress))
    if progress.changed:
        yield Note(_suite_changed_line(progress))
    if not linked:  # else the matrix says so
        yield from map(Note, check_lines(bakeoff.suite))
    if board:
        yield from (part for part in board.parts if not isinstance(part, Heading))
    yield Note(_facts_line(progress, None))
    if not linked and bakeoff.typed_name == bakeoff.id:
        yield Note(f"Read question 1 with `/council show {bakeoff.round_id(1)}`.")
    if failure:
        yield _resume_button(bakeoff)


def _failed_line(progress: BakeoffProgress) -> str:
    first = progress.failed[0]
    total = _count(progress, progress.questions)
    return f"{len(progress.failed)} of {total} failed. Question {first.number}: {first.why}"


def failed_posts(progress: BakeoffProgress) -> Iterator[Post]:
    """Yield the questions that failed, if there are several."""
    if len(progress.failed) < 2:  # noqa: PLR2004 - a single one is in the root
        return
    lines = [
        Line(f"Question {one.number}: {one.why}") for one in progress.failed[:_MAX_FAILURES_SHOWN]
    ]
    rest = len(progress.failed) - _MAX_FAILURES_SHOWN
    notes = [Note(f"And {rest} more.")] if rest > 0 else []
    yield Post((Heading("Questions that failed"), *lines, *notes), "Questions that failed")


# --- Proposal


def proposal_post(
    bakeoff: Bakeoff, cost: BakeoffEstimate, value: str | None, methods: Sequence[str] = ()
) -> Post:
    """Return a bake-off before anything is spent: its size and cost, and how to start it.

    `value` is the value of its buttons; without one, the post says what to type, with `methods`.
    """
    parts: list[Part] = [Heading(bakeoff_title(bakeoff)), *_cost_parts(bakeoff, cost)]
    cap = bakeoff.cap_micro
    if value is None:
        cap_text = "" if cap is None else f" cap:{format_usd(cap)}"
        typed = "".join(f" method:{method}" for method in methods)
        command = f"/council bakeoff {bakeoff.suite.name} panel:{bakeoff.panel.name}{typed}"
        command += cap_text
        parts.append(Note(f"Start it with `{command} now`."))
    else:
        buttons = (Button(START, "Start", value), Button(LEAVE, "Cancel", value))
        parts.append(Buttons(buttons))
    return Post(tuple(parts), f"{bakeoff_title(bakeoff)} · {_size_line(bakeoff)}")


def extra_run_post(schedule: Schedule, bakeoff: Bakeoff, cost: BakeoffEstimate) -> Post:
    """Return the question whether to run a schedule now, with the size and cost of the run."""
    title = f"Run {schedule.name} now?"
    buttons = (
        Button(EXTRA_RUN, "Run it", schedule.id),
        Button(LEAVE, "Cancel", schedule.id),
    )
    parts = (Heading(title), *_cost_parts(bakeoff, cost), Buttons(buttons))
    return Post(parts, title)


def _cost_parts(bakeoff: Bakeoff, cost: BakeoffEstimate) -> Iterator[Part]:
    yield Line(_size_line(bakeoff))
    yield from map(Note, cost_lines(bakeoff, cost))
    cap = bakeoff.cap_micro
    if cap is not None and cost.micro > cap:
        yield Caution("The cap may stop it before its last question. You can resume it later.")
    if cap is not None and cost.unknown:
        yield Caution("The cap can't include models whose price is unknown.")


def _size_line(bakeoff: Bakeoff) -> str:
    suite, names = bakeoff.suite.as_stored, seat_names(bakeoff.panel)
    size = count_noun(len(suite.questions), "question")
    if methods := bakeoff.suite.methods:
        size += f" × {len(methods)} methods ({join_words(methods)})"
    size = ", ".join(filter(None, (size, graded_text(suite))))
    return f"{size}, each for {join_words(names[seat.key] for seat in bakeoff.panel.members)}."


def run_cost_text(cost: BakeoffEstimate, unknown: Sequence[str]) -> str:
    """Return "Usually $0.25, never more than $5.79", from earlier runs, else half of the most."""
    if not cost.micro or unknown:
        return max_cost_text(cost.micro, unknown)
    usual = min(cost.usual_micro or cost.micro // 2, cost.micro)
    usual_text, most = map(format_rounded_usd, (usual, cost.micro))
    return f"Usually {usual_text}, never more than {most}"


def cost_lines(
    bakeoff: Bakeoff, cost: BakeoffEstimate, asked: Sequence[Member] = ()
) -> Iterator[str]:
    """Yield what a bake-off may cost, how long it takes, and who receives its questions.

    That is every seat of its panel, unless only some are `asked`.
    """
    names, cap = seat_names(bakeoff.panel), bakeoff.cap_micro
    cost_text = run_cost_text(cost, [names[key] for key in cost.unknown])
    yield f"{cost_text}{'' if cap is None else f', with a cap of {format_usd(cap)}'}."
    if cost.extra_micro and not bakeoff.suite.is_graded:
        more = format_rounded_usd(cost.extra_micro)
        yield f"Nothing is graded, so judges rank in both orders; up to {more} of it is for that."
    if cost.seconds is not None:
        yield f"It takes about {rough_duration(cost.seconds)}, based on earlier rounds."
    yield f"The questions go to {seat_receivers(asked or bakeoff.panel.seats)}."


# --- JSON


def bakeoff_summary_document(progress: BakeoffProgress) -> Document:
    """Return a bake-off in short; `ended_at` and `failure` are null while it is running.

    `cost_usd` is null if the cost of any call is unknown; `known_cost_usd` is that of the others.
    """
    bakeoff = progress.bakeoff
    ending = bakeoff.ending
    cap = bakeoff.cap_micro
    return {
        "id": bakeoff.id,
        "suite": bakeoff.suite.name,
        "version": bakeoff.suite.version,
        "panel": bakeoff.panel.name,
        "method": bakeoff.panel.terms.method,
        "begun_at": bakeoff.at.isoformat(),
        "ended_at": ending.at.isoformat() if ending else None,
        "failure": ending.failure if ending else None,
        "questions": progress.questions,
        "over": progress.over,
        "failed": [{"number": one.number, "why": one.why} for one in progress.failed],
        "cost_usd": progress.spending.usd,
        "known_cost_usd": progress.spent_micro / MICRO_USD,
        "unknown_calls": progress.unknown_calls,
        "cap_usd": None if cap is None else cap / MICRO_USD,
    }


def bakeoff_document(
    progress: BakeoffProgress, board: Leaderboard, run: RunMatrix, records: Sequence[Document]
) -> Document:
    """Return a whole bake-off: board, questions with shares by seat key, cells, records."""
    return {
        **bakeoff_summary_document(progress),
        **leaderboard_document(board),
        "rounds": [
            {
                "number": row.number,
                "question": row.question.text,
                "round": row.round_id if row.is_over and row.round_id else None,
                "shares": {
                    key: cell.share for key, cell in row.cells.items() if cell.share is not None
                },
            }
            for row in run.matrix.rows
        ],
        "cells": cell_documents(run),
        "methods": [asdict(line) for line in compare_methods(run.matrix)],
        "against": comparison_document(run),
        "graders": run.agreement and asdict(run.agreement),
        "records": list(records),
    }


# --- Markdown summary


def summary_markdown(
    progress: BakeoffProgress,
    board: Leaderboard,
    changes: Changes | None,
    member: str = "",
    wrong: Sequence[tuple[int, str]] = (),
    notes: Iterable[str] = (),
) -> str:
    """Return the summary; a fall counts only for `member`, or for everybody if it is "".

    `wrong` are the questions that models answered wrong, by number and seat key; `notes` are lines
    about the grades.
    """
    title = bakeoff_title(progress.bakeoff)
    if changes is not None:
        title += f": {'' if changes.worse(member) else 'no '}worse than the baseline"
    parts: list[Part] = [Heading(title)]
    if failure := _failure(progress):
        parts.append(Line(f"**It ended early.** {escape_markdown(failure)}"))
    if progress.failed:
        parts.append(Line(escape_markdown(_failed_line(progress))))
    missing = missing_lines(replace(board, changes=changes))
    parts += [Line(escape_markdown(line)) for line in (*missing, headline(board)) if line]
    if rows := board.board.rows:
        parts.append(author_table(board, len(rows)))
    if changes:
        parts += _change_parts(changes, board.names)
    parts += [Line(escape_markdown(note)) for note in notes]
    count = f"{progress.over} of {_count(progress, progress.questions)} · {_spent_line(progress)}"
    suite = progress.bakeoff.suite
    facts = Line(f"{count} · suite version {suite.version} · bake-off `{progress.bakeoff.id}`")
    wrong_post = Post((*_wrong_parts(progress, board, wrong), facts))
    return thread_markdown(Thread(Post(tuple(parts)), (wrong_post,)))


def _wrong_parts(
    progress: BakeoffProgress, board: Leaderboard, wrong: Sequence[tuple[int, str]]
) -> Iterator[Part]:
    models: dict[int, list[str]] = {}
    for number, member in wrong:
        models.setdefault(number, []).append(board.name(member))
    if not models:
        return
    yield Heading(count_noun(len(wrong), "wrong answer"))
    rows = []
    for number, names in [*models.items()][:_MAX_FAILURES_SHOWN]:
        text = shorten_to_line(progress.bakeoff.suite.questions[number - 1].text, 100)
        rows.append((str(number), escape_markdown(text), ", ".join(names)))
    yield Table(("Question", "", "Wrong"), tuple(rows), frozenset({0}))
    if (rest := len(models) - _MAX_FAILURES_SHOWN) > 0:
        yield Line(f"And {count_noun(rest, 'question')} more.")


def _change_parts(changes: Changes, names: Mapping[str, str]) -> Iterator[Part]:
    yield from map(Line, [*change_lines(changes, names)] or [no_change_line(changes)])
    columns = ("Model", "Measure", "Before", "Now", "Difference (95 %)", "Beyond noise")
    rows = tuple(
        (
            names.get(move.member, move.member),
            "rivals beaten" if move.measure is Measure.SHARE else "right",
            percent(move.before),
            percent(move.now),
            lead_text(move.difference, move.ci),
            "yes" if move.is_beyond_noise else "no",
        )
        for move in changes.moves
    )
    if rows:
        yield Table(columns, rows, frozenset({2, 3, 4}))
    yield Line(comparison_line(changes))


def escape_markdown(text: str) -> str:
    """Return the text on one line with Markdown characters escaped; a table escapes its "|"."""
    line = " ".join(text.split())
    return "".join(f"\\{c}" if c in "\\`*_[]<>#" else c for c in line)
