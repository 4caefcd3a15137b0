"""A grader: does every line of a poem have the syllables that the reference names?"""

import re

from council.errors import SuiteError

_VOWELS = re.compile(r"[aeiouy]+", re.IGNORECASE)


class Syllables:
    """Grades a poem by its lines; a reference names their syllables, as in "5 7 5"."""

    def check(self, reference: str) -> None:
        """Raise SuiteError unless the reference is a list of numbers."""
        if not re.fullmatch(r"[0-9]+( [0-9]+)*", reference.strip()):
            raise SuiteError(f"{reference!r} does not count syllables. Write it as in '5 7 5'.")

    def grade(self, answer: str, reference: str) -> float | None:
        """Return the share of lines that are right; None for an answer without a line."""
        wanted = [int(number) for number in reference.split()]
        found = [len(_VOWELS.findall(line)) for line in answer.splitlines() if line.strip()]
        if not found:
            return None
        right = sum(one == other for one, other in zip(found, wanted, strict=False))
        return right / max(len(found), len(wanted))


SYLLABLES = Syllables()
