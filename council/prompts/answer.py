"""Prompt for a member, which answers the question."""

import re
from dataclasses import dataclass

from council.answers import Prompt
from council.files import QuestionFile
from council.prompt_injection import neutralise_fences
from council.prompts.shared import common_length, truncate, with_instructions
from council.rounds import Question

_SYSTEM = """\
You are one of several experts who answer the same question independently.
Answer it directly and completely, in the language it was asked in. Say where you are unsure.
Your answer will be compared with others without names: do not say who you are, which model you \
are or who made you, and do not sign it."""
_ROLE = "Answer in this role, without naming it:"
UNSEEN = "The image {name} came with it, which you cannot see. Say so if the answer depends on it."
FILE_CUT_MARK = "[the file goes on; this is what fits in your context]"
# How a context quotes an earlier round; the lines of its texts are indented.
BEFORE, ANSWERED = "The question before: ", "The council's answer to it: "
_EXCHANGE = re.compile(rf"^{BEFORE}(.*(?:\n  .*)*)\n\n{ANSWERED}(.*(?:\n  .*)*)$", re.MULTILINE)
_CUE = "\nAnswer:"
_TURNS = re.compile(rf"Question: (.*)\nAnswer: (.*)\nQuestion: (.*){_CUE}", re.DOTALL)
_TURN_TOKENS = 120  # of each text of an earlier exchange, for a small model
# Small models answer worse the longer their instructions are, and take up each doubt in them.
BRIEF = """\
Answer the question directly and correctly, in one to three plain sentences, without lists. Do not \
say who you are."""


@dataclass(frozen=True, slots=True)
class Reader:
    """What a model can take in: images or not, and so many tokens; None if that is unknown.

    A small one loses the thread in a longer context than the last exchange.
    """

    sees_images: bool = True
    context_tokens: int | None = None
    is_small: bool = False


ANY_READER = Reader()


def answer_prompt(
    question: Question,
    *,
    brief: bool = False,
    role: str | None = None,
    reader: Reader = ANY_READER,
) -> Prompt:
    """Return the prompt; a `brief` one asks for a short answer and suits slow local models."""
    lines = [BRIEF if brief else _SYSTEM, *([f"{_ROLE} {role}"] if role else [])]
    cue = _CUE if _last_exchange(question, reader) else ""
    system = with_instructions("\n".join(lines), neutralise_fences(question.instructions))
    return Prompt(system, question_text(question, reader) + cue)


def split_turns(text: str) -> tuple[str, ...]:
    """Return the turns of a small model's prompt, its own every second one; else the text."""
    found = _TURNS.fullmatch(text)
    return found.groups() if found else (text,)


def question_text(question: Question, reader: Reader = ANY_READER) -> str:
    """Return the question with its context and files, with imitated fences neutralised.

    The texts of files have half of the reader's context; longer ones are cut and marked.
    """
    parts = [question.text]
    if exchange := _last_exchange(question, reader):
        before, answer = (truncate(text.replace("\n  ", "\n"), _TURN_TOKENS) for text in exchange)
        parts = [f"Question: {before}\nAnswer: {answer}\nQuestion: {question.text}"]
    elif question.context:
        parts.append(f"The question refers to this:\n{question.context}")
    length = _file_length(question, reader)
    parts += [_file_part(file, length) for file in question.kept_files if not file.is_image]
    for file in question.images:
        shown = f"The image {file.name} came with it."
        parts.append(shown if reader.sees_images else UNSEEN.format(name=file.name))
    return "\n\n".join(map(neutralise_fences, parts))


def _last_exchange(question: Question, reader: Reader) -> tuple[str, str] | None:
    """Return the last question and answer that a context quotes, for a small reader, else None."""
    exchanges = _EXCHANGE.findall(question.context) if reader.is_small else []
    return exchanges[-1] if exchanges else None


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
