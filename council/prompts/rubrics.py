"""The rubric judges follow where a panel names none of its own."""

from council.draws import digest
from council.panel import Rubric

_DEFAULT = (
    "Correct: what it claims is true, and code or figures hold up.",
    "Complete: it answers the question that was asked, with nothing needed left out.",
    "Useful: the asker can act on it.",
    "Honest about doubt: it says what it does not know and claims no more than it can.",
)


def rubric(name: str, criteria: tuple[str, ...]) -> Rubric:
    """Give a rubric whose version follows from its text."""
    return Rubric(name, digest("rubric", name, "\n".join(criteria))[:8], criteria)


DEFAULT_RUBRIC = rubric("default", _DEFAULT)
