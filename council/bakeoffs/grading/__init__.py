"""Grading: whether an answer is the one that is known to be right, without an LLM.

Pure: a reference and a text in, yes or no out. No text, however odd, raises or hangs.
"""

from council.bakeoffs.grading.checking import check_reference, usual_grading
from council.bakeoffs.grading.choices import chooses
from council.bakeoffs.grading.numbers import numbers_agree
from council.bakeoffs.grading.patterns import matches
from council.bakeoffs.grading.wording import says
from council.bakeoffs.suite import Grading, Reference

__all__ = ["check_reference", "graded", "usual_grading"]


_BY_VALUE = {Grading.EXACT: says, Grading.CHOICE: chooses, Grading.REGEX: matches}


def graded(reference: Reference, text: str) -> bool:
    """Say whether an answer is right."""
    if reference.grading is Grading.NUMBER:
        return numbers_agree(reference.value, reference.tolerance, text)
    return _BY_VALUE[reference.grading](reference.value, text)
