"""Prompt for a member, which answers the question."""

from dataclasses import dataclass

from council.answers import Prompt
from council.files import QuestionFile
from council.prompt_injection import neutralise_fences
from council.prompts.shared import common_length, truncate
from council.rounds import Question

_SYSTEM = """\
You are one of several experts who answer the same question independently.
Answer it directly and completely, in the language it was asked in. Say where you are unsure.
Your answer will be compared with others without names: do not say who you are, which model you \
are or who made you, and do not sign it."""
_ROLE = "Answer in this role, without naming it:"
UNSEEN = "The image {name} came with it, which you cannot see. Say so if the answer depends on it."
FILE_CUT_MARK = "[the file goes on; this is what fits in your context]"
_BRIEF = "Answer in two to four plain sentences, without lists."


@dataclass(frozen=True, slots=True)
class Reader:
    """What a model can take in: images or not, and so many tokens; None if that is unknown."""

    sees_images: bool = True
    context_tokens: int | None = None


ANY_READER = Reader()


def answer_prompt(
    question: Question,
    *,
    brief: bool = False,
    role: str | None = None,
    reader: Reader = ANY_READER,
) -> Prompt:
    """Return the prompt; a `brief` one asks for a short answer and suits slow local models."""
    lines = [_SYSTEM, *([_BRIEF] if brief else []), *([f"{_ROLE} {role}"] if role else [])]
    return Prompt("\n".join(lines), question_text(question, reader))


def question_text(question: Question, reader: Reader = ANY_READER) -> str:
    """Return the question with its context and files, with imitated fences neutralised.

    The texts of files have half of the reader's context; longer ones are cut and marked.
    """
    parts = [question.text]
    if question.context:
        parts.append(f"The question refers to this:\n{question.context}")
    length = _file_length(question, reader)
    parts += [_file_part(file, length) for file in question.kept_files if not file.is_image]
    for file in question.images:
        shown = f"The image {file.name} came with it."
        parts.append(shown if reader.sees_images else UNSEEN.format(name=file.name))
    return "\n\n".join(map(neutralise_fences, parts))


def missed_files(question: Question, reader: Reader) -> tuple[str, ...]:
    """Return what a reader cannot take in of the files: "images", and the end of "texts"."""
    missed = {
        "images": bool(question.images) and not reader.sees_images,
        "texts": _file_length(question, reader) is not None,
    }
    return tuple(name for name, is_missed in missed.items() if is_missed)


def _file_length(question: Question, reader: Reader) -> int | None:
    """Return the tokens that each file may have for a reader; None if all fit."""
    texts = [file.text for file in question.files if file.text]
    if reader.context_tokens is None or not texts:
        return None
    return common_length(texts, reader.context_tokens // 2)


def _file_part(file: QuestionFile, length: int | None) -> str:
    text = file.text if length is None else truncate(file.text, length)
    mark = "" if text == file.text else f"\n{FILE_CUT_MARK}"
    return f"The file {file.name}:\n{text}{mark}"
