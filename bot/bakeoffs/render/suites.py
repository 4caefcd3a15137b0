"""Renderer of suites: the list, one suite, and one to confirm before it is saved."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bot.bakeoffs.column_mapper import LeftOut
from bot.chat import Button, Buttons, Heading, Line, Note, Part, Post, Table
from bot.render.formatting import count_noun, join_words, seat_names
from bot.render.lists import NEW, list_post
from bot.render.text_safety import shorten_to_line
from council.bakeoffs.graders import missing_grader
from council.bakeoffs.models import Reference, Suite
from council.bakeoffs.ports import SuiteSummary
from council.budget import Estimate
from council.money import format_rounded_usd
from council.panel import Panel
from council.registry import Registry

_MAX_QUESTIONS = 20
_MAX_LEFT_OUT, _MAX_PLACES = 20, 4  # what of a file is not imported, and places of each
KEEP, LEAVE = "keep_suite", "leave_suite"
NEW_SUITE = "new_suite"  # the action
NEW_SUITE_BUTTON = Button(NEW_SUITE, "New suite", NEW)
_NO_SUITE = (
    "No suites yet. Create one with `/council suite add NAME` and a file of questions, or with "
    "“Add to suite” under a round."
)


@dataclass(frozen=True, slots=True)
class SuiteRunCost:
    """The estimated cost of one run of a suite on a panel."""

    panel: Panel
    estimate: Estimate


def suites_post(suites: Sequence[SuiteSummary], scope: str) -> Post:
    """Return the suites that can be used in a scope."""
    if not suites:
        return Post((Note(_NO_SUITE),), _NO_SUITE)
    rows = tuple(
        (
            suite.name + (" (built in)" if suite.scope != scope else ""),
            str(suite.questions),
            str(suite.graded),
            f"{suite.kept_at:%Y-%m-%d}",
            suite.version,
        )
        for suite in suites
    )
    columns = ("Suite", "Questions", "With an answer", "Saved (UTC)", "Version")
    table = Table(columns, rows, frozenset({1, 2}))
    note = Note("Open one with `/council suite show NAME`.")
    return Post((Heading(count_noun(len(suites), "suite")), table, note), "Suites")


def suite_list_post(suites: Sequence[SuiteSummary], scope: str, *, may_add: bool = False) -> Post:
    """Return the suites that can be used in a scope, each with a button that opens it.

    Somebody who may add one gets a button for that, too.
    """
    new = (Buttons((NEW_SUITE_BUTTON,)),) if may_add else ()
    if not suites:
        return Post((Note(_NO_SUITE), *new), _NO_SUITE)
    lines = [
        (
            f"{suite.name}{' (built in)' if suite.scope != scope else ''} · "
            f"{count_noun(suite.questions, 'question')}, {suite.graded} with an answer",
            f"suite show {suite.name}",
        )
        for suite in suites
    ]
    post = list_post(count_noun(len(suites), "suite"), lines)
    return replace(post, parts=(*post.parts, *new))


def suite_post(suite: Suite, run: SuiteRunCost | None, registry: Registry) -> Post:
    """Return a suite's first questions, its size, the graders it misses and the cost of a run."""
    rows = tuple(
        (
            str(number),
            shorten_to_line(question.text, 70),
            _reference_text(question.reference),
            question.category,
        )
        for number, question in enumerate(suite.questions[:_MAX_QUESTIONS], start=1)
    )
    table = Table(("", "Question", "Answer", "Category"), rows, frozenset({0}))
    parts: list[Part] = [Heading(f"Suite {suite.name}"), Line(size_line(suite)), table]
    if (rest := len(suite.questions) - _MAX_QUESTIONS) > 0:
        parts.append(Note(f"And {count_noun(rest, 'question')} more."))
    parts += map(Note, (*check_lines(suite), *missing_grader_lines(suite, registry)))
    parts.append(Note(f"{cost_line(run)} Version {suite.version}."))
    return Post(tuple(parts), f"Suite {suite.name}")


def confirm_suite_post(
    suite: Suite,
    run: SuiteRunCost | None,
    before: SuiteSummary | None,
    code: str,
    *,
    typed: bool = False,
) -> Post:
    """Return a suite to confirm before it is saved, with two buttons, or what to type."""
    title = f"Save suite {suite.name}?"
    parts: list[Part] = [Heading(title), Line(size_line(suite)), Line(cost_line(run))]
    parts += map(Note, check_lines(suite))
    if before:
        parts.append(Note(_replacement_note(suite, before)))
    hint = f" Save it with `suite keep {code}`." if typed else ""
    readers = "Everybody in this workspace can read a suite. " if suite.scope else ""
    parts.append(Note(f"{readers}No questions are asked now.{hint}"))
    parts.append(Buttons((Button(KEEP, "Save", code), Button(LEAVE, "Cancel", code))))
    return Post(tuple(parts), title)


def left_out_lines(left_out: Sequence[LeftOut]) -> tuple[str, ...]:
    """Return what of a file is not imported, one line for each name and reason, with its places."""
    if not left_out:
        return ()
    places: dict[tuple[str, str], list[str]] = {}
    for one in left_out:
        places.setdefault((one.name, one.why), []).append(one.where.lower())
    lines = [
        f"{name} ({_places_text(where)}): {why.rstrip('.')}."
        for (name, why), where in places.items()
    ]
    rest = len(lines) - _MAX_LEFT_OUT
    more = (f"And {rest} more; `council suite add … --json` lists all.",) if rest > 0 else ()
    return ("Not imported:", *lines[:_MAX_LEFT_OUT], *more)


def _places_text(places: Sequence[str]) -> str:
    """Return "line 3, line 9 and 4 more"."""
    shown, rest = places[:_MAX_PLACES], len(places) - _MAX_PLACES
    return ", ".join(shown) + (f" and {rest} more" if rest > 0 else "")


def suite_saved_post(suite: Suite, run: SuiteRunCost | None = None) -> Post:
    """Return the confirmation that a suite is saved."""
    line = f"Suite {suite.name} is saved: {size_line(suite)}"
    notes = [*check_lines(suite), *([cost_line(run)] if run else [])]
    return Post((Line(line), *map(Note, notes)), line)


def question_added_post(suite: Suite, run: SuiteRunCost | None) -> Post:
    """Return the confirmation that a question was added to a suite."""
    line = f"The question is now in suite {suite.name}, which has {size_line(suite)}"
    return Post((Line(line), Note(cost_line(run))), line)


def size_line(suite: Suite) -> str:
    """Return a suite's size: "12 questions in 3 categories, 10 with a reference answer"."""
    categories = {question.category for question in suite.questions if question.category}
    categories_text = f" in {len(categories)} categories" if len(categories) > 1 else ""
    answers = graded_text(suite) or "none with a reference answer"
    visibility = (
        "; judges see these" if suite.judges_see_references and known_answers(suite) else ""
    )
    return (
        f"{count_noun(len(suite.questions), 'question')}{categories_text}, {answers}{visibility}."
    )


def known_answers(suite: Suite) -> int:
    """Return how many questions have a reference answer."""
    return sum(question.known_answer != "" for question in suite.questions)


def graded_text(suite: Suite) -> str:
    """Return how many questions are graded: "10 with a reference answer, 2 with a rubric"."""
    rubrics = sum(question.rubric != "" for question in suite.questions)
    missing = sum(bool(one.reference) and not one.is_graded for one in suite.questions)
    counts = (
        (known_answers(suite), "a reference answer"),
        (rubrics, "a rubric"),
        (missing, "a missing grader"),
    )
    return ", ".join(f"{count} with {what}" for count, what in counts if count)


def check_lines(suite: Suite) -> Iterator[str]:
    """Yield which questions have no grade, or that of a part of their checks."""
    numbered = [*enumerate(suite.questions, start=1)]
    missing = [number for number, one in numbered if one.reference and not one.is_graded]
    if missing:
        kept = any(not suite.questions[n - 1].checks.startswith("0 of ") for n in missing)
        helps = " To grade by the others, add the suite again with the option `partial`."
        yield (
            f"{_questions_text(missing)} no grade, shown as ?: some checks could not be imported."
            f"{helps if kept else ''}"
        )
    partial: dict[str, list[int]] = {}
    for number, one in numbered:
        if one.checks and one.is_graded:
            partial.setdefault(one.checks, []).append(number)
    for checks, numbers in partial.items():
        yield f"{_questions_text(numbers)} a grade by {checks} checks."


def missing_grader_lines(suite: Suite, registry: Registry) -> Iterator[str]:
    """Yield which questions need a grader that no plug-in here has."""
    missing: dict[str, list[int]] = {}
    for number, question in enumerate(suite.questions, start=1):
        if why := missing_grader(question.reference, registry):
            missing.setdefault(why, []).append(number)
    for why, numbers in missing.items():
        yield f"{_questions_text(numbers)} no grade, shown as ?. {why}"


def _questions_text(numbers: Sequence[int]) -> str:
    """Return "Question 3 has" or "Questions 1, 2, 3 and 4 more have"."""
    if len(numbers) == 1:
        return f"Question {numbers[0]} has"
    return f"Questions {_places_text([*map(str, numbers)])} have"


def cost_line(run: SuiteRunCost | None) -> str:
    """Return the cost of a run: "One run on panel house never costs more than $0.40"."""
    if run is None:
        return "The cost of a run is unknown, because no panel is set up here."
    names, estimate = seat_names(run.panel), run.estimate
    text = f"never costs more than {format_rounded_usd(estimate.micro)}" if estimate.micro else ""
    if estimate.unknown:
        seats = join_words(names[key] for key in estimate.unknown)
        text += f"; the cost is unknown for {seats}" if text else f"has an unknown cost for {seats}"
    return f"One run on panel {run.panel.name} {text or 'costs nothing'}."


def _replacement_note(suite: Suite, before: SuiteSummary) -> str:
    size = count_noun(before.questions, "question")
    if before.scope != suite.scope:
        return f"A built-in suite with {size} has this name; yours replaces it here."
    return (
        f"It replaces version {before.version} with {size}. Earlier results stay with that version."
    )


def _reference_text(reference: Reference | None) -> str:
    if reference is None:
        return ""
    tolerance = f" ± {reference.tolerance:.10g}" if reference.tolerance else ""
    tolerance += f" or {count_noun(len(reference.others), 'other')}" if reference.others else ""
    checks = f", {reference.checks} checks" if reference.checks else ""
    return f"{shorten_to_line(reference.value, 30)}{tolerance} ({reference.grading}{checks})"
