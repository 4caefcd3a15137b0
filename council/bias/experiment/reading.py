"""Read the reply of a judge that graded one answer, strictly: any doubt is no grade."""

import re

from council.ballots.reading import Fault, SpoiledError, signed_object
from council.bias.grades.grade import BEST, WORST

NO_OBJECT = "it held no JSON object with a grade"
NO_GRADE = f"its grade was not one whole number from {WORST} to {BEST}"
TWO_GRADES = "it held more than one grade"
_OTHER_GRADE = re.compile(r"grade|score|rating|rank|mark", re.IGNORECASE)
_WRITTEN = re.compile(r"\s*(\d)\s*")


def read_grade(text: str, nonce: str) -> int | str:
    """Give the grade as it was written, 1 to 5, or what spoils the reply, in words.

    A reply is one JSON object with the nonce, as a ballot is; "4" counts as 4, and 4.5 as none.
    """
    try:
        found = signed_object(text, nonce)
    except SpoiledError as spoiled:
        return NO_OBJECT if spoiled.fault is Fault.NO_OBJECT else spoiled.fault.value
    if any(_OTHER_GRADE.search(key) for key in found.keys() - {"grade"}):
        return TWO_GRADES
    return _whole(found.get("grade"))


def _whole(value: object) -> int | str:
    if isinstance(value, str) and (written := _WRITTEN.fullmatch(value)):
        value = int(written[1])
    if isinstance(value, int) and not isinstance(value, bool) and WORST <= value <= BEST:
        return value
    return NO_GRADE
