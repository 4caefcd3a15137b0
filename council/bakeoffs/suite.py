"""Suites: named lists of questions, some with a reference answer, versioned by what they hold."""

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from hashlib import sha256

VERSION_LENGTH = 12


class Grading(StrEnum):
    """How an answer is held against a reference, without an LLM."""

    EXACT = "exact"
    NUMBER = "number"
    CHOICE = "choice"
    REGEX = "regex"


@dataclass(frozen=True, slots=True)
class Reference:
    """The answer that is known to be right; `tolerance` is for numbers, absolute."""

    grading: Grading
    value: str
    tolerance: float = 0.0


@dataclass(frozen=True, slots=True)
class SuiteQuestion:
    """One question of a suite."""

    text: str
    category: str = ""
    reference: Reference | None = None
    context: str = ""


@dataclass(frozen=True, slots=True)
class Suite:
    """A named list of questions; its judges read references only where it says so.

    `scope` is whose it is: a workspace's, or the house's where it is "".
    """

    name: str
    questions: tuple[SuiteQuestion, ...]
    judges_see_references: bool = False
    scope: str = ""

    @property
    def version(self) -> str:
        """What the suite holds, as twelve hexadecimal digits; its name and scope do not count."""
        held = [[asdict(question) for question in self.questions], self.judges_see_references]
        text = json.dumps(held, sort_keys=True, ensure_ascii=False)
        return sha256(text.encode()).hexdigest()[:VERSION_LENGTH]
