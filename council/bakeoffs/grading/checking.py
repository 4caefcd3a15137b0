"""References before they are used: what cannot be graded is refused, with what to do."""

from math import isfinite

from council.bakeoffs.grading.numbers import is_number
from council.bakeoffs.grading.patterns import fault_in_pattern
from council.bakeoffs.suite import Grading, Reference
from council.errors import SuiteError

MOST_CHARACTERS = 2_000


def usual_grading(value: str) -> Grading:
    """Give how an answer is graded where nobody says: as a number, a single letter, or exactly."""
    if is_number(value):
        return Grading.NUMBER
    return Grading.CHOICE if _is_letter(value) else Grading.EXACT


def check_reference(reference: Reference) -> None:
    """Raise SuiteError for a reference that no answer could be held against."""
    value = reference.value
    if not value.strip():
        raise SuiteError("The answer is empty: write it, or leave out how it is graded.")
    if len(value) > MOST_CHARACTERS:
        raise SuiteError(
            f"The answer has {len(value):,} characters and at most {MOST_CHARACTERS:,} can be "
            "graded: shorten it."
        )
    if not isfinite(reference.tolerance) or reference.tolerance < 0:
        raise SuiteError("The tolerance must be a number from 0 up, such as 0.5.")
    if reference.tolerance and reference.grading is not Grading.NUMBER:
        raise SuiteError("A tolerance goes with numbers only: leave it out, or grade as a number.")
    _check_kind(reference)


def _check_kind(reference: Reference) -> None:
    value = reference.value
    match reference.grading:
        case Grading.NUMBER if not is_number(value):
            raise SuiteError(
                f"{_short(value)} is no number: write it as 1234.5, or grade it as exact."
            )
        case Grading.CHOICE if not all(choice.strip() for choice in value.split("|")):
            raise SuiteError(
                f"{_short(value)} names an empty choice: write the right one first, as in "
                "'yes | no'."
            )
        case Grading.REGEX if fault := fault_in_pattern(value):
            raise SuiteError(f"{_short(value)} is no regular expression: {fault}.")
        case _:
            return


def _is_letter(value: str) -> bool:
    letter = value.strip()
    return len(letter) == 1 and "A" <= letter <= "Z"


def _short(value: str) -> str:
    return repr(value if len(value) <= 40 else f"{value[:39]}…")  # noqa: PLR2004
