"""What may be asked: cleaned of what nobody can see, and refused in one sentence otherwise."""

import unicodedata
from dataclasses import replace

from council.errors import QuestionError
from council.imitations import visible
from council.rounds import Question

MOST_CHARACTERS = 20_000
_KEPT = "\n\t"


def checked_question(question: Question) -> Question:
    """Give the question without control, bidirectional and zero-width characters.

    Raises QuestionError for one that is empty or too long.
    """
    text, context = cleaned(question.text), cleaned(question.context)
    if not text:
        raise QuestionError("The question is empty: write it after /council.")
    if len(text) + len(context) > MOST_CHARACTERS:
        raise QuestionError(
            f"The question has {len(text) + len(context):,} characters and at most "
            f"{MOST_CHARACTERS:,} can be asked: shorten it, or ask about one part."
        )
    return replace(question, text=text, context=context)


def cleaned(text: str) -> str:
    """Give the text as it reads: plain line ends, nothing invisible, no white space around."""
    plain = visible(text.replace("\r\n", "\n").replace("\r", "\n"))
    return "".join(
        c for c in plain if c in _KEPT or unicodedata.category(c) not in {"Cc", "Cs"}
    ).strip()
