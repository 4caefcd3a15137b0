"""Renderer of a bake-off for pipelines: one test case for each question and model, as JUnit XML."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from bot.bakeoffs.render.bakeoffs import bakeoff_title
from bot.render.formatting import seat_names
from bot.render.text_safety import shorten_to_line
from council.answers import Role
from council.bakeoffs.graders import missing_grader
from council.bakeoffs.models import BakeoffProgress, Grading, Reference, split_round_id
from council.bakeoffs.records import AuthorRecord, build_record
from council.rounds import Round

_MAX_NAME, _MAX_ANSWER = 120, 1_000  # characters
_NOT_XML = re.compile(r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Outcome(StrEnum):
    """What became of a test case; the value is the element of JUnit, "" for a pass."""

    PASSED = ""
    WRONG = "failure"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Case:
    """A question put to one model; `message` and `detail` say why it did not pass."""

    number: int
    member: str
    outcome: Outcome = Outcome.PASSED
    message: str = ""
    detail: str = ""
    seconds: float | None = None


def bakeoff_cases(progress: BakeoffProgress, rounds: Sequence[Round]) -> tuple[Case, ...]:
    """Return the cases in the order of suite and panel; `rounds` are the closed ones.

    A case fails if its answer is graded wrong, passes if its question has no grader, and is skipped
    if a part of the grader could not be imported.
    """
    by_number = {split_round_id(round_.id)[1]: round_ for round_ in rounds}
    numbers = sorted(progress.bakeoff.numbers)
    return tuple(
        case for number in numbers for case in _cases(progress, number, by_number.get(number))
    )


def _cases(progress: BakeoffProgress, number: int, round_: Round | None) -> Iterator[Case]:
    bakeoff = progress.bakeoff
    failures = {one.number: one.why for one in progress.failed}
    if round_ is None or number in failures:
        why = failures.get(number)
        outcome, message = (Outcome.ERROR, why) if why else (Outcome.SKIPPED, "It was not asked.")
        for seat in bakeoff.panel.members:
            yield Case(number, seat.key, outcome, message)
        return
    texts = {answer.member: answer.text for answer in round_.revised}
    reference = bakeoff.suite.questions[number - 1].reference
    names = seat_names(bakeoff.panel)
    absent = {one.member: one.reason for one in round_.absences if one.role is Role.ANSWER}
    for author in build_record(round_, bakeoff).authored:
        if author.absent:
            why = f"{names[author.member]} {absent.get(author.member, 'did not answer')}."
            yield Case(number, author.member, Outcome.ERROR, why)
        else:
            missing = missing_grader(reference, round_.registry)
            yield _graded_case(number, author, reference, texts[author.member], missing)


def _graded_case(
    number: int, author: AuthorRecord, reference: Reference | None, text: str, missing: str
) -> Case:
    case = Case(number, author.member, seconds=author.seconds)
    if reference is None or author.correct:
        return case
    if missing:
        return replace(case, outcome=Outcome.SKIPPED, message=f"No grade. {missing}")
    if reference.grading == Grading.MISSING:
        message = f"No grade: only {reference.checks} checks could be imported."
        return replace(case, outcome=Outcome.SKIPPED, message=message)
    if author.correct is None:
        is_judged = reference.grading == Grading.JUDGE
        why = "was split or absent" if is_judged else "failed"
        message = f"The grader {reference.grading} {why}, so this answer has no grade."
        return replace(case, outcome=Outcome.ERROR, message=message)
    shown = text if len(text) <= _MAX_ANSWER else f"{text[:_MAX_ANSWER]}…"
    detail = f"Expected ({reference.grading}): {' | '.join(reference.values)}\nAnswer: {shown}"
    return replace(case, outcome=Outcome.WRONG, message="The answer is wrong.", detail=detail)


def junit_xml(progress: BakeoffProgress, cases: Sequence[Case]) -> bytes:
    """Return the cases as JUnit XML, in one test suite."""
    bakeoff = progress.bakeoff
    names = seat_names(bakeoff.panel)
    suite = ET.Element(
        "testsuite",
        name=_clean(bakeoff_title(bakeoff)),
        tests=str(len(cases)),
        failures=_count(cases, Outcome.WRONG),
        errors=_count(cases, Outcome.ERROR),
        skipped=_count(cases, Outcome.SKIPPED),
        time=f"{sum(case.seconds or 0 for case in cases):.3f}",
        timestamp=bakeoff.at.isoformat(),
    )
    for case in cases:
        question = bakeoff.suite.questions[case.number - 1]
        title = f"{case.number}. {shorten_to_line(question.text, _MAX_NAME)}"
        title += f" ({question.checks} checks)" if question.checks else ""
        element = ET.SubElement(
            suite,
            "testcase",
            classname=_clean(f"{bakeoff.suite.name}.{names[case.member].replace('.', '_')}"),
            name=_clean(title),
            time=f"{case.seconds or 0:.3f}",
        )
        if case.outcome:
            reason = ET.SubElement(element, case.outcome.value, message=_clean(case.message))
            reason.text = _clean(case.detail)
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))


def _count(cases: Sequence[Case], outcome: Outcome) -> str:
    return str(sum(case.outcome is outcome for case in cases))


def _clean(text: str) -> str:
    """Return the text without characters that XML can't have."""
    return _NOT_XML.sub("", text)
