"""How bake-offs read: before they start, as they go, and when they are over."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

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
    Thread,
)
from bot.render.formatting import counted, duration, listed, names_of, roughly
from bot.render.leaderboard_export import board_document
from bot.render.leaderboard_tables import Leaderboard, percent
from bot.render.leaderboard_text import NO_CHANGE, comparison_line, news_lines
from bot.render.round_status import receivers
from council.bakeoffs.changes import Changes, Measure, MemberChange
from council.bakeoffs.intervals import Interval
from council.bakeoffs.models import Bakeoff, BakeoffEstimate, Progress
from council.money import MICRO, about, dollars

# --- How bake-offs read: before they start, as they go, and when they are over.

START, LEAVE = "bakeoff_start", "bakeoff_leave"
CANCEL, RESUME = "bakeoff_cancel", "bakeoff_resume"
_MAX_FAILURES_SHOWN = 20  # failed questions that are told one by one


def title_of(bakeoff: Bakeoff) -> str:
    """Give what a bake-off goes by."""
    return f"Bake-off of {bakeoff.suite.name} by {bakeoff.panel.name}"


def state_of(progress: Progress) -> str:
    """Give in a few words how a bake-off stands."""
    ending = progress.bakeoff.ending
    if progress.is_whole and ending and not ending.failure:
        failed = f", {len(progress.failed)} failed" if progress.failed else ""
        return f"{counted(progress.questions, 'question')}{failed}"
    state = "stopped" if ending else "under way"
    return f"{state}, {progress.over} of {progress.questions}"


def running_post(progress: Progress, asker: str) -> Post:
    """Give how a bake-off goes, and a way to stop it."""
    summary = summary_of(progress)
    parts: list[Part] = [
        Heading(title_of(progress.bakeoff)),
        Steps(summary, tuple(_steps(progress))),
        *map(Note, _notes(progress, asker)),
        Buttons((Button(CANCEL, "Cancel", progress.bakeoff.id),)),
    ]
    return Post(tuple(parts), f"{title_of(progress.bakeoff)} · {summary}")


def summary_of(progress: Progress) -> str:
    """Give how far it is: "5 of 12 questions, about 2 min left"."""
    told = f"{progress.over} of {counted(progress.questions, 'question')}"
    if progress.seconds_left is None:
        return told
    return f"{told}, about {roughly(progress.seconds_left)} left"


def _steps(progress: Progress) -> Iterator[Step]:
    done, missing = progress.over - len(progress.failed), len(progress.failed)
    if done:
        yield Step(f"{counted(done, 'question')} answered and ranked", StepState.DONE)
    if missing:
        last = progress.failed[-1]
        yield Step(_failed_text(missing), StepState.MISSING, f"question {last.number}: {last.why}")
    if progress.under_way:
        yield Step(f"{counted(progress.under_way, 'question')} under way", StepState.RUNNING)
    if progress.waiting:
        yield Step(f"{counted(progress.waiting, 'question')} to come", StepState.WAITING)


def _failed_text(number: int) -> str:
    return f"{counted(number, 'question')} failed"


def _notes(progress: Progress, asker: str) -> Iterator[str]:
    yield f"{_spent_line(progress)} · bake-off {progress.bakeoff.id}"
    if progress.changed:
        yield _suite_changed_line(progress)
    if asker:
        yield f"Asked by {asker}"


def _spent_line(progress: Progress) -> str:
    """Give what is spent, of how much: "$0.12 of $1.50 spent"."""
    cap = progress.bakeoff.cap_micro
    of = "" if cap is None else f" of {dollars(cap)}"
    return f"{dollars(progress.spent_micro)}{of} spent"


def _suite_changed_line(progress: Progress) -> str:
    """Say that the suite is another by now."""
    suite = progress.bakeoff.suite
    return (
        f"Suite {suite.name} has changed since this began: it goes by version {suite.version}, "
        f"the newest is {progress.changed}."
    )


def stopped_post(progress: Progress, why: str) -> Post:
    """Give what is left of a bake-off that stands still, why, and how to go on."""
    parts: list[Part] = [
        Heading(title_of(progress.bakeoff)),
        *map(Caution, _resume_hint(progress, why)),
        Note(f"{summary_of(progress)} · {_spent_line(progress)}"),
        _resume_button(progress.bakeoff),
    ]
    return Post(tuple(parts), f"{title_of(progress.bakeoff)} · {why}")


def failure_post(progress: Progress, why: str, subscribers: Sequence[str] = ()) -> Post:
    """Give why a bake-off ended early, as a post of its own that calls subscribers."""
    parts: list[Part] = [
        Heading(f"{title_of(progress.bakeoff)} ended early"),
        *map(Caution, _resume_hint(progress, why)),
        *([Mentions(tuple(subscribers))] if subscribers else []),
        _resume_button(progress.bakeoff),
    ]
    return Post(tuple(parts), f"{title_of(progress.bakeoff)} ended early: {why}")


def _resume_hint(progress: Progress, why: str) -> Iterator[str]:
    kept = f"{progress.over} of {counted(progress.questions, 'question')}"
    yield (
        f"{why} {kept} are kept; `/council bakeoff resume {progress.bakeoff.id}` goes on and "
        "repeats nothing."
    )


def _resume_button(bakeoff: Bakeoff) -> Buttons:
    return Buttons((Button(RESUME, "Go on", bakeoff.id),))


def result_thread(progress: Progress, board: Thread | None, *, linked: bool = False) -> Thread:
    """Give what a bake-off came to, at its end or as far as it came; `board` is its leaderboard.

    Where its rounds are `linked` beside it, nobody needs to be told how to open one.
    """
    summary = f"{title_of(progress.bakeoff)} · {_outcome_text(progress)}"
    opens = () if linked else (Note(_open_hint(progress)),)
    parts = (
        *_result_parts(progress, board.root if board else None),
        *opens,
        *_resume_parts(progress),
    )
    root = Post(parts, summary)
    return Thread(root, (*_failed_posts(progress), *(board.replies if board else ())))


def _outcome_text(progress: Progress) -> str:
    ending = progress.bakeoff.ending
    return ending.failure if ending and ending.failure else summary_of(progress)


def _result_parts(progress: Progress, board: Post | None) -> Iterator[Part]:
    ending = progress.bakeoff.ending
    yield Heading(title_of(progress.bakeoff))
    if ending and ending.failure:
        yield from map(Caution, _resume_hint(progress, ending.failure))
    if progress.failed:
        yield Caution(_failed_line(progress))
    if progress.changed:
        yield Note(_suite_changed_line(progress))
    if board:
        yield from (part for part in board.parts if not isinstance(part, Heading))
    yield Note(_facts_line(progress))


def _resume_parts(progress: Progress) -> Iterator[Part]:
    ending = progress.bakeoff.ending
    if ending and ending.failure:
        yield _resume_button(progress.bakeoff)


def _failed_line(progress: Progress) -> str:
    """Say how many questions failed, and why the first did."""
    first = progress.failed[0]
    of = counted(progress.questions, "question")
    return f"{len(progress.failed)} of {of} failed. Question {first.number}: {first.why}"


def _facts_line(progress: Progress) -> str:
    bakeoff = progress.bakeoff
    ending = bakeoff.ending
    took = f" · {duration((ending.at - bakeoff.at).total_seconds())}" if ending else ""
    return f"{summary_of(progress)}{took} · {_spent_line(progress)}"


def _open_hint(progress: Progress) -> str:
    return f"Its first question: /council show {progress.bakeoff.round_id(1)}"


def _failed_posts(progress: Progress) -> Iterator[Post]:
    if len(progress.failed) < 2:  # noqa: PLR2004 - the only one is told in the root
        return
    lines = [
        Line(f"Question {one.number}: {one.why}") for one in progress.failed[:_MAX_FAILURES_SHOWN]
    ]
    left = len(progress.failed) - _MAX_FAILURES_SHOWN
    more = [Note(f"And {left} more.")] if left > 0 else []
    yield Post((Heading("Questions that failed"), *lines, *more), "Questions that failed")


# --- A bake-off before it begins: how large it is, what it may cost, who receives the texts.


def proposal_post(bakeoff: Bakeoff, cost: BakeoffEstimate, value: str | None) -> Post:
    """Give what a bake-off comes to before anything is spent, and what starts it.

    Buttons do, where they carry `value`; else words.
    """
    parts: list[Part] = [Heading(title_of(bakeoff)), Line(_size_line(bakeoff))]
    parts += map(Note, _cost_lines(bakeoff, cost))
    parts += map(Caution, _cap_warnings(bakeoff, cost))
    if value is None:
        parts.append(Note(f"`{_start_command(bakeoff)} now` starts it."))
    else:
        buttons = (Button(START, "Start", value), Button(LEAVE, "Leave it", value))
        parts.append(Buttons(buttons))
    return Post(tuple(parts), f"{title_of(bakeoff)} · {_size_line(bakeoff)}")


def _start_command(bakeoff: Bakeoff) -> str:
    """Give what is said to hold this once more."""
    cap = "" if bakeoff.cap_micro is None else f" cap:{dollars(bakeoff.cap_micro)}"
    return f"/council bakeoff {bakeoff.suite.name} panel:{bakeoff.panel.name}{cap}"


def _size_line(bakeoff: Bakeoff) -> str:
    """Say how large a bake-off is, and who sits."""
    suite, names = bakeoff.suite, names_of(bakeoff.panel)
    graded = sum(question.reference is not None for question in suite.questions)
    told = f", {graded} with a reference answer" if graded else ""
    members = listed(names[seat.key] for seat in bakeoff.panel.members)
    return f"{counted(len(suite.questions), 'question')}{told}, each put to {members}."


def _cost_lines(bakeoff: Bakeoff, cost: BakeoffEstimate) -> Iterator[str]:
    """Say what it may cost, how long it takes, and who receives the texts."""
    known = f"It costs about {about(cost.micro)} at most" if cost.micro else ""
    names = names_of(bakeoff.panel)
    unknown = listed(names[key] for key in cost.unknown)
    unsure = f"cost unknown for {unknown}" if unknown else ""
    told = "; ".join(filter(None, (known, unsure))) or "It costs nothing"
    cap = "" if bakeoff.cap_micro is None else f", and its cap is {dollars(bakeoff.cap_micro)}"
    yield f"{told[0].upper()}{told[1:]}{cap}."
    if cost.seconds is not None:
        yield f"It takes about {roughly(cost.seconds)}, as long as rounds usually do here."
    yield f"The questions go to {receivers(bakeoff.panel)}."


def _cap_warnings(bakeoff: Bakeoff, cost: BakeoffEstimate) -> Iterator[str]:
    if bakeoff.cap_micro is not None and cost.micro > bakeoff.cap_micro:
        yield "The cap may end it before its last question; it can then be gone on with."
    if bakeoff.cap_micro is not None and cost.unknown:
        yield "The cap cannot count what models of unknown price cost."


# --- A bake-off as a JSON document: for programs, and as the baseline of a later one.

Document = dict[str, Any]


def line_document(progress: Progress) -> Document:
    """Give a bake-off in short; `ended_at` and `failure` are null as long as it is under way."""
    bakeoff = progress.bakeoff
    ending = bakeoff.ending
    cap = bakeoff.cap_micro
    return {
        "id": bakeoff.id,
        "suite": bakeoff.suite.name,
        "version": bakeoff.suite.version,
        "panel": bakeoff.panel.name,
        "begun_at": bakeoff.at.isoformat(),
        "ended_at": ending.at.isoformat() if ending else None,
        "failure": ending.failure if ending else None,
        "questions": progress.questions,
        "over": progress.over,
        "failed": [{"number": one.number, "why": one.why} for one in progress.failed],
        "cost_usd": progress.spent_micro / MICRO,
        "cap_usd": None if cap is None else cap / MICRO,
    }


def bakeoff_document(
    progress: Progress,
    board: Leaderboard,
    shares: Mapping[int, Mapping[str, float]],
    records: Sequence[Document],
) -> Document:
    """Give a bake-off whole: its board, each question's shares by seat key, and its records."""
    bakeoff = progress.bakeoff
    return {
        **line_document(progress),
        **board_document(board),
        "rounds": [
            {
                "number": number,
                "question": question.text,
                "round": bakeoff.round_id(number) if number in shares else None,
                "shares": dict(shares.get(number, {})),
            }
            for number, question in enumerate(bakeoff.suite.questions, start=1)
        ],
        "records": list(records),
    }


# --- A bake-off against a baseline, as Markdown for whoever reads a check's result.

Names = Mapping[str, str]
_CHANGES_HEAD = "| Member | Measure | Before | Now | Difference (95 %) | Beyond noise |"
_CHANGES_RULE = "| --- | --- | ---: | ---: | ---: | --- |"


def summary_markdown(
    progress: Progress, board: Leaderboard, changes: Changes | None, member: str = ""
) -> str:
    """Give the summary; `member` is the only one whose fall counts, "" where everybody's does."""
    return "\n".join([*_summary_lines(progress, board, changes, member), ""])


def _summary_lines(
    progress: Progress, board: Leaderboard, changes: Changes | None, member: str
) -> Iterator[str]:
    yield f"## {title_of(progress.bakeoff)}{_verdict_text(changes, member)}"
    yield ""
    ending = progress.bakeoff.ending
    if ending and ending.failure:
        yield f"**It ended early.** {_escape_markdown(ending.failure)}"
        yield ""
    if progress.failed:
        yield _escape_markdown(_failed_line(progress))
        yield ""
    yield from _board_lines(board)
    if changes:
        yield from _change_lines(changes, board.names)
    yield f"{progress.over} of {progress.questions} questions · {_spent_line(progress)} · " + (
        f"suite version {progress.bakeoff.suite.version} · bake-off `{progress.bakeoff.id}`"
    )


def _verdict_text(changes: Changes | None, member: str) -> str:
    if changes is None:
        return ""
    return ": worse than the baseline" if changes.worse(member) else ": no worse than the baseline"


def _board_lines(board: Leaderboard) -> Iterator[str]:
    if not board.board.rows:
        return
    yield "| Place | Member | Share | 95 % | Rounds |"
    yield "| ---: | --- | ---: | ---: | ---: |"
    for line in board.board.rows:
        share = "unknown" if line.share is None else percent(line.share)
        interval = _interval_text(line.ci, percent)
        name = _escape_markdown(board.name(line.member))
        yield f"| {line.place or ''} | {name} | {share} | {interval} | {line.rounds} |"
    yield ""


def _change_lines(changes: Changes, names: Names) -> Iterator[str]:
    for line in [*news_lines(changes, names)] or [NO_CHANGE]:
        yield f"- {_escape_markdown(line)}"
    yield ""
    if changes.moves:
        yield _CHANGES_HEAD
        yield _CHANGES_RULE
        yield from (_change_row(move, names) for move in changes.moves)
        yield ""
    yield _escape_markdown(comparison_line(changes))
    yield ""


def _change_row(move: MemberChange, names: Names) -> str:
    measure = "rivals beaten" if move.measure is Measure.SHARE else "right"
    ends = _interval_text(move.ci, _points)
    cells = (
        _escape_markdown(names.get(move.member, move.member)),
        measure,
        percent(move.before),
        percent(move.now),
        f"{_points(move.difference)} {f'({ends})' if ends else ''}".strip(),
        "yes" if move.is_beyond_noise else "no",
    )
    return f"| {' | '.join(cells)} |"


def _interval_text(ends: Interval, told: Callable[[float], str]) -> str:
    """Give an interval in words; nothing where it is not known."""
    low, high = ends
    return f"{told(low)} to {told(high)}" if isfinite(low) and isfinite(high) else ""


def _points(share: float) -> str:
    return f"{share * 100:+.0f}"


def _escape_markdown(text: str) -> str:
    """Give text that Markdown shows as it stands, in one line."""
    line = " ".join(text.split())
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in line)
