"""One question as a file has it, checked: every fault is a sentence that says where it is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from math import nan

from bot.texts import MOST_CHARACTERS, cleaned
from council.bakeoffs.grading import check_reference, usual_grading
from council.bakeoffs.models import Grading, Reference, SuiteQuestion
from council.errors import SuiteError

COLUMNS = ("question", "category", "answer", "grading", "tolerance", "context")
MOST_QUESTIONS = 1_000
LONGEST_CATEGORY = 60


@dataclass(frozen=True, slots=True)
class Entry:
    """What a file says of one question, by column, and where it says so: "line 7"."""

    where: str
    fields: Mapping[str, str] = field(default_factory=dict)


def questions_of(entries: Iterable[Entry], category: str = "") -> tuple[SuiteQuestion, ...]:
    """Give the questions, in this category where they name none; SuiteError for a fault."""
    seen: dict[tuple[str, str], str] = {}
    questions: list[SuiteQuestion] = []
    for entry in entries:
        if len(questions) == MOST_QUESTIONS:
            raise SuiteError(
                f"There are more than {MOST_QUESTIONS:,} questions, the most that a suite takes: "
                "keep those that matter, or make several suites of them."
            )
        question = _checked(entry, category)
        same = _folded(question)
        if same in seen:
            raise SuiteError(
                f"{begun(entry.where)} asks the same as {seen[same]}: take one of them out."
            )
        seen[same] = entry.where
        questions.append(question)
    if not questions:
        raise SuiteError("There is no question in it: write one a line, or see docs/bakeoffs.md.")
    return tuple(questions)


def check_columns(names: Iterable[str], where: str) -> None:
    """Raise SuiteError for a column that says nothing to us."""
    for name in names:
        if name in COLUMNS:
            continue
        near = get_close_matches(name, COLUMNS, 1)
        meant = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(COLUMNS)}."
        raise SuiteError(f"{begun(where)} names a column {name[:40]!r} that I do not know: {meant}")


def same_question(one: SuiteQuestion, other: SuiteQuestion) -> bool:
    """Say whether two questions ask the same, about the same."""
    return _folded(one) == _folded(other)


def _checked(entry: Entry, category: str) -> SuiteQuestion:
    check_columns(entry.fields, entry.where)
    given = {name: cleaned(text) for name, text in entry.fields.items()}
    text, context = given.get("question", ""), given.get("context", "")
    if not text:
        raise SuiteError(f"{begun(entry.where)} holds no question: write it, or take the line out.")
    if len(text) + len(context) > MOST_CHARACTERS:
        raise SuiteError(
            f"{begun(entry.where)} has a question of {len(text) + len(context):,} characters, and "
            f"at most {MOST_CHARACTERS:,} can be asked: shorten it."
        )
    label = given.get("category") or category
    if len(label) > LONGEST_CATEGORY:
        raise SuiteError(
            f"{begun(entry.where)} has a category of {len(label):,} characters: "
            f"{LONGEST_CATEGORY} are enough for its name."
        )
    return SuiteQuestion(text, " ".join(label.split()), _reference(entry.where, given), context)


def _reference(where: str, given: Mapping[str, str]) -> Reference | None:
    """Give the answer that is known to be right; None where the file names none."""
    value, tolerance = given.get("answer", ""), given.get("tolerance", "")
    if not (value or given.get("grading") or tolerance):
        return None
    grading = _grading(where, given.get("grading", "")) or usual_grading(value)
    reference = Reference(grading, value, _tolerance(tolerance))
    try:
        check_reference(reference)
    except SuiteError as error:
        raise SuiteError(f"{begun(where)}: {str(error)[0].lower()}{str(error)[1:]}") from None
    return reference


def _grading(where: str, name: str) -> Grading | None:
    if not name:
        return None
    try:
        return Grading(name.lower())
    except ValueError:
        known = ", ".join(Grading)
        raise SuiteError(
            f"{begun(where)} grades as {name[:40]!r}, which I do not know: choose one of {known}."
        ) from None


def _tolerance(text: str) -> float:
    try:
        return float(text or 0)
    except ValueError:
        return nan  # which is refused with the others


def _folded(question: SuiteQuestion) -> tuple[str, str]:
    text, context = (" ".join(x.casefold().split()) for x in (question.text, question.context))
    return text, context


def begun(where: str) -> str:
    """Give a place as the beginning of a sentence."""
    return f"{where[0].upper()}{where[1:]}"
