"""A reader of model texts as a function of the text alone; importable without pytest."""

from council.research.filters import check_text
from council.rounds import Question


def check_markup(text: str) -> tuple[str, ...]:
    return check_text(Question(""), text)
