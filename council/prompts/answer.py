"""Prompt for a member, which answers the question."""

from council.answers import Prompt
from council.prompt_injection import neutralise_fences
from council.rounds import Question

_SYSTEM = """\
You are one of several experts who answer the same question independently.
Answer it directly and completely, in the language it was asked in. Say where you are unsure.
Your answer will be compared with others without names: do not say who you are, which model you \
are or who made you, and do not sign it."""
_ROLE = "Answer in this role, without naming it:"
_BRIEF = "Answer in two to four plain sentences, without lists."


def answer_prompt(question: Question, *, brief: bool = False, role: str | None = None) -> Prompt:
    """Return the prompt with the question; it is the same for every member without a role.

    A `brief` one asks for a short answer and suits slow local models.
    """
    lines = [_SYSTEM, *([_BRIEF] if brief else []), *([f"{_ROLE} {role}"] if role else [])]
    return Prompt("\n".join(lines), question_text(question))


def question_text(question: Question) -> str:
    """Return the question with its context, both with imitated fences neutralised."""
    if not question.context:
        return neutralise_fences(question.text)
    return (
        f"{neutralise_fences(question.text)}\n\n"
        f"The question refers to this:\n{neutralise_fences(question.context)}"
    )
