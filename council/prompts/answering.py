"""What a member is asked."""

from council.calls import Prompt
from council.imitations import without_fences
from council.rounds import Question

_SYSTEM = """\
You are one of several experts who answer the same question independently.
Answer it directly and completely, in the language it was asked in. Say where you are unsure.
Your answer will be compared with others without names: do not say who you are, which model you \
are or who made you, and do not sign it."""


def answer_prompt(question: Question) -> Prompt:
    """Give the prompt that puts the question to a member; the same for every member."""
    return Prompt(_SYSTEM, asked(question))


def asked(question: Question) -> str:
    """Give the question with its context; nothing in either can pass for a fence."""
    if not question.context:
        return without_fences(question.text)
    return (
        f"{without_fences(question.text)}\n\n"
        f"The question refers to this:\n{without_fences(question.context)}"
    )
