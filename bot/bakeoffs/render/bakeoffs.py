"""Renderer of bake-offs: proposal, progress, result, JSON, and a Markdown comparison."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict

from bot.bakeoffs.render.leaderboard_export import Document, leaderboard_document
from bot.bakeoffs.render.leaderboard_tables import Leaderboard, author_table, percent
from bot.bakeoffs.render.leaderboard_text import NO_CHANGE, change_lines, comparison_line, lead_text
from bot.bakeoffs.render.matrix import cell_documents, comparison_document
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
from bot.render.lists import command_button
from bot.render.markdown import thread_markdown
from bot.render.round_status import receivers
from bot.render.text_safety import shorten_to_line
from council.bakeoffs.changes import Changes, Measure
from council.bakeoffs.matrix import RunMatrix, compare_methods
from council.bakeoffs.models import Bakeoff, BakeoffEstimate, BakeoffProgress
from council.money import MICRO_USD, format_usd

_MAX_FAILURES_SHOWN = 20  # failed questions listed one by one


# --- Posts

START, LEAVE = "bakeoff_start", "bakeoff_leave"
CANCEL, RESUME = "bakeoff_cancel", "bakeoff_resume"


def bakeoff_title(bakeoff: Bakeoff) -> str:
    """Return the title of a bake-off."""
    return f"Bake-off of {bakeoff.suite.name} by {bakeoff.panel.name}"


def bakeoff_state(progress: BakeoffProgress) -> str:
    """Return the state of a bake-off in a few words."""
    ending = progress.bakeoff.ending
    if progress.is_complete and ending and not ending.failure:
        failed = f", {len(progress.failed)} failed" if progress.failed else ""
        return f"{_count(progress, progress.questions)}{failed}"
    state = "stopped" if ending else "under way"
    return f"{state}, {progress.over} of {progress.questions}"


def _count(progress: BakeoffProgress, count: int) -> str:
    """Return so many questions; so many rounds if each is asked under several methods."""
    return count_noun(count, "round" if progress.bakeoff.suite.methods else "question")


def running_post(progress: BakeoffProgress, asker: str) -> Post:
    """Return the progress of a bake-off, with a cancel button."""
    summary, title = progress_summary(progress), bakeoff_title(progress.bakeoff)
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
    suite = progress.bakeoff.suite
    return (
        f"Suite {suite.name} has changed since this bake-off started. It keeps version "
        f"{suite.version}; the newest is {progress.changed}."
    )


def stopped_post(progress: BakeoffProgress, why: str) -> Post:
    """Return a stopped bake-off: why, how far it came, and a resume button."""
    title = bakeoff_title(progress.bakeoff)
    note = Note(f"{progress_summary(progress)} · {_spent_line(progress)}")
    button = _resume_button(progress.bakeoff)
    return Post((Heading(title), _resume_hint(progress, why), note, button), f"{title} · {why}")


def failure_post(progress: BakeoffProgress, why: str, subscribers: Sequence[str] = ()) -> Post:
    """Return why a bake-off ended early, as a separate post that mentions subscribers."""
    title = f"{bakeoff_title(progress.bakeoff)} ended early"
    mentions = [Mentions(tuple(subscribers))] if subscribers else []
    button = _resume_button(progress.bakeoff)
    return Post((Heading(title), _resume_hint(progress, why), *mentions, button), f"{title}: {why}")


def _resume_hint(progress: BakeoffProgress, why: str) -> Caution:
    count = f"{progress.over} of {_count(progress, progress.questions)}"
    bakeoff = progress.bakeoff
    # A schedule's has a long id, and is never posted where there are no buttons.
    how = "" if bakeoff.schedule else f" Resume with `/council bakeoff resume {bakeoff.id}`;"
    return Caution(f"{why} {count} are saved.{how or ' Resume it:'} nothing is asked twice.")


def _resume_button(bakeoff: Bakeoff) -> Buttons:
    return Buttons((Button(RESUME, "Resume", bakeoff.id),))


def result_thread(
    progress: BakeoffProgress, board: Thread | None, *, linked: bool = False
) -> Thread:
    """Return the result of a bake-off, complete or not; `board` is its leaderboard.

    If its rounds are `linked` next to it, the hint how to open one is left out.
    """
    parts = tuple(_result_parts(progress, board.root if board else None, linked=linked))
    outcome = _failure(progress) or progress_summary(progress)
    root = Post(parts, f"{bakeoff_title(progress.bakeoff)} · {outcome}")
    return Thread(root, (*_failed_posts(progress), *(board.replies if board else ())))


def _failure(progress: BakeoffProgress) -> str | None:
    return progress.bakeoff.ending.failure if progress.bakeoff.ending else None


def _result_parts(progress: BakeoffProgress, board: Post | None, *, linked: bool) -> Iterator[Part]:
    bakeoff, failure = progress.bakeoff, _failure(progress)
    yield Heading(bakeoff_title(bakeoff))
    if failure:
        yield _resume_hint(progress, failure)
    if progress.failed:
        yield Caution(_failed_line(progress))
    if progress.changed:
        yield Note(_suite_changed_line(progress))
    if not linked:  # else the matrix says so
        yield from map(Note, check_lines(bakeoff.suite))
    if board:
        yield from (part for part in board.parts if not isinstance(part, Heading))
    facts = [progress_summary(progress)]
    if bakeoff.ending:
        facts.append(duration((bakeoff.ending.at - bakeoff.at).total_seconds()))
    yield Note(" · ".join([*facts, _spent_line(progress)]))
    if not linked and bakeoff.schedule:  # its ids are long, and it is posted where buttons are
        show = command_button("Open the first question", f"show {bakeoff.round_id(1)}")
        yield Buttons((show,))
    elif not linked:
        yield Note(f"Open its first question with `/council show {bakeoff.round_id(1)}`.")
    if failure:
        yield _resume_button(bakeoff)


def _failed_line(progress: BakeoffProgress) -> str:
    first = progress.failed[0]
    total = _count(progress, progress.questions)
    return f"{len(progress.failed)} of {total} failed. Question {first.number}: {first.why}"


def _failed_posts(progress: BakeoffProgress) -> Iterator[Post]:
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
    parts: list[Part] = [Heading(bakeoff_title(bakeoff)), Line(_size_line(bakeoff))]
    parts += map(Note, _cost_lines(bakeoff, cost))
    cap = bakeoff.cap_micro
    if cap is not None and cost.micro > cap:
        warning = "The cap may stop it before its last question. You can resume it later."
        parts.append(Caution(warning))
    if cap is not None and cost.unknown:
        parts.append(Caution("The cap can't include models whose price is unknown."))
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


def _size_line(bakeoff: Bakeoff) -> str:
    suite, names = bakeoff.suite.as_stored, seat_names(bakeoff.panel)
    size = count_noun(len(suite.questions), "question")
    if methods := bakeoff.suite.methods:
        size += f" × {len(methods)} methods ({join_words(methods)})"
    size = ", ".join(filter(None, (size, graded_text(suite))))
    return f"{size}, each for {join_words(names[seat.key] for seat in bakeoff.panel.members)}."


def _cost_lines(bakeoff: Bakeoff, cost: BakeoffEstimate) -> Iterator[str]:
    names, cap = seat_names(bakeoff.panel), bakeoff.cap_micro
    cost_text = max_cost_text(cost.micro, (names[key] for key in cost.unknown))
    yield f"{cost_text}{'' if cap is None else f', with a cap of {format_usd(cap)}'}."
    if cost.seconds is not None:
        yield f"It takes about {rough_duration(cost.seconds)}, based on earlier rounds."
    yield f"The questions go to {receivers(bakeoff.panel)}."


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
        parts.append(Line(f"**It ended early.** {_escape_markdown(failure)}"))
    if progress.failed:
        parts.append(Line(_escape_markdown(_failed_line(progress))))
    if rows := board.board.rows:
        parts.append(author_table(board, len(rows)))
    if changes:
        parts += _change_parts(changes, board.names)
    parts += [Line(_escape_markdown(note)) for note in notes]
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
        rows.append((str(number), _escape_markdown(text), ", ".join(names)))
    yield Table(("Question", "", "Wrong"), tuple(rows), frozenset({0}))
    if (rest := len(models) - _MAX_FAILURES_SHOWN) > 0:
        yield Line(f"And {count_noun(rest, 'question')} more.")


def _change_parts(changes: Changes, names: Mapping[str, str]) -> Iterator[Part]:
    yield from map(Line, [*change_lines(changes, names)] or [NO_CHANGE])
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


def _escape_markdown(text: str) -> str:
    """Return the text on one line with Markdown characters escaped; a table escapes its "|"."""
    line = " ".join(text.split())
    return "".join(f"\\{c}" if c in "\\`*_[]<>#" else c for c in line)
