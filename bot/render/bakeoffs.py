"""How bake-offs read: before they start, as they go, and when they are over."""

from collections.abc import Iterator, Sequence

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
from bot.render.figures import counted, duration, roughly
from council.bakeoffs.models import Bakeoff, Progress
from council.money import dollars

START, LEAVE = "bakeoff_start", "bakeoff_leave"
CANCEL, RESUME = "bakeoff_cancel", "bakeoff_resume"
MOST_TOLD = 20  # failed questions that are told one by one


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
        yield Step(_failed(missing), StepState.MISSING, f"question {last.number}: {last.why}")
    if progress.under_way:
        yield Step(f"{counted(progress.under_way, 'question')} under way", StepState.RUNNING)
    if progress.waiting:
        yield Step(f"{counted(progress.waiting, 'question')} to come", StepState.WAITING)


def _failed(number: int) -> str:
    return f"{counted(number, 'question')} failed"


def _notes(progress: Progress, asker: str) -> Iterator[str]:
    yield f"{spent_line(progress)} · bake-off {progress.bakeoff.id}"
    if progress.changed:
        yield changed_line(progress)
    if asker:
        yield f"Asked by {asker}"


def spent_line(progress: Progress) -> str:
    """Give what is spent, of how much: "$0.12 of $1.50 spent"."""
    cap = progress.bakeoff.cap_micro
    of = "" if cap is None else f" of {dollars(cap)}"
    return f"{dollars(progress.spent_micro)}{of} spent"


def changed_line(progress: Progress) -> str:
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
        *map(Caution, _what_to_do(progress, why)),
        Note(f"{summary_of(progress)} · {spent_line(progress)}"),
        _resume(progress.bakeoff),
    ]
    return Post(tuple(parts), f"{title_of(progress.bakeoff)} · {why}")


def failure_post(progress: Progress, why: str, subscribers: Sequence[str] = ()) -> Post:
    """Give why a bake-off ended early, as a post of its own that calls subscribers."""
    parts: list[Part] = [
        Heading(f"{title_of(progress.bakeoff)} ended early"),
        *map(Caution, _what_to_do(progress, why)),
        *([Mentions(tuple(subscribers))] if subscribers else []),
        _resume(progress.bakeoff),
    ]
    return Post(tuple(parts), f"{title_of(progress.bakeoff)} ended early: {why}")


def _what_to_do(progress: Progress, why: str) -> Iterator[str]:
    kept = f"{progress.over} of {counted(progress.questions, 'question')}"
    yield (
        f"{why} {kept} are kept; `/council bakeoff resume {progress.bakeoff.id}` goes on and "
        "repeats nothing."
    )


def _resume(bakeoff: Bakeoff) -> Buttons:
    return Buttons((Button(RESUME, "Go on", bakeoff.id),))


def result_thread(progress: Progress, board: Thread | None, *, linked: bool = False) -> Thread:
    """Give what a bake-off came to, at its end or as far as it came; `board` is its leaderboard.

    Where its rounds are `linked` beside it, nobody needs to be told how to open one.
    """
    summary = f"{title_of(progress.bakeoff)} · {_state(progress)}"
    opens = () if linked else (Note(_how_to_open(progress)),)
    parts = (*_result(progress, board.root if board else None), *opens, *_go_on(progress))
    root = Post(parts, summary)
    return Thread(root, (*_failed_posts(progress), *(board.replies if board else ())))


def _state(progress: Progress) -> str:
    ending = progress.bakeoff.ending
    return ending.failure if ending and ending.failure else summary_of(progress)


def _result(progress: Progress, board: Post | None) -> Iterator[Part]:
    ending = progress.bakeoff.ending
    yield Heading(title_of(progress.bakeoff))
    if ending and ending.failure:
        yield from map(Caution, _what_to_do(progress, ending.failure))
    if progress.failed:
        yield Caution(failed_line(progress))
    if progress.changed:
        yield Note(changed_line(progress))
    if board:
        yield from (part for part in board.parts if not isinstance(part, Heading))
    yield Note(_facts(progress))


def _go_on(progress: Progress) -> Iterator[Part]:
    ending = progress.bakeoff.ending
    if ending and ending.failure:
        yield _resume(progress.bakeoff)


def failed_line(progress: Progress) -> str:
    """Say how many questions failed, and why the first did."""
    first = progress.failed[0]
    of = counted(progress.questions, "question")
    return f"{len(progress.failed)} of {of} failed. Question {first.number}: {first.why}"


def _facts(progress: Progress) -> str:
    bakeoff = progress.bakeoff
    ending = bakeoff.ending
    took = f" · {duration((ending.at - bakeoff.at).total_seconds())}" if ending else ""
    return f"{summary_of(progress)}{took} · {spent_line(progress)}"


def _how_to_open(progress: Progress) -> str:
    return f"Its first question: /council show {progress.bakeoff.round_id(1)}"


def _failed_posts(progress: Progress) -> Iterator[Post]:
    if len(progress.failed) < 2:  # noqa: PLR2004 - the only one is told in the root
        return
    lines = [Line(f"Question {one.number}: {one.why}") for one in progress.failed[:MOST_TOLD]]
    left = len(progress.failed) - MOST_TOLD
    more = [Note(f"And {left} more.")] if left > 0 else []
    yield Post((Heading("Questions that failed"), *lines, *more), "Questions that failed")
