"""What may be asked: cleaned of what nobody can see, and refused in one sentence otherwise."""

from dataclasses import replace

from bot.chat.incoming import MOST_CHARACTERS, cleaned
from council.errors import QuestionError
from council.rounds import Question


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
