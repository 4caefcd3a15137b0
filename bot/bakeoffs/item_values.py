"""Values of foreign items: answers, choices and conversations, as columns of ours."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from random import Random
from string import ascii_uppercase
from typing import Any

import regex

from bot.bakeoffs.column_names import NAMES, normalize_name
from bot.bakeoffs.file_parsers import parse_json
from council.bakeoffs.graders import (
    BUILT_IN,
    MAX_ANSWER_CHARACTERS,
    check_reference,
    default_reference,
    final_number,
)
from council.bakeoffs.models import Grading, Reference
from council.errors import SuiteError

_CONTAINERS = (
    "item",
    "doc",
    "row",
    "vars",
    "inputs",
    "input",
    "question",
    "example",
    "data",
    "expectations",
)
_TEXTS = (
    "answer",
    "text",
    "value",
    "number",
    "content",
    "output",
    "spans",
    "message",
    "messages",
    "result",
)
_BESIDE = re.compile(r"aliases|answer_start|types?|role|name|(?:normalized|matched)_.*")
_SCORED = ("mc1_targets", "target_scores")  # choices with 1 for the right one
_LISTED = re.compile(r"""\[['"].*\]\Z|\{['"].*\}\Z""", re.DOTALL)  # as a text
_FLAGS = ("correct", "is_correct", "tags")  # of a choice that says whether it is right
_LABELS = ("label", "key", "letter", "id")
_ROLES = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "ai", "bot", "chatgpt", "gpt", "model"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
}
_SPEAKERS = ("role", "from", "sender", "type")
_CALLS = ("tool_calls", "function_call", "audio")
_LETTER = re.compile(r"\(?([A-Z])(?:\)\s*|[.:]\s+)(?=\S)")  # before the text of a choice
_INDICES = ("label", "correct_index", "correct_answer_index", "answer_idx", "answer_index")
_MARKED = re.compile(r"\(?([A-Za-z])(?:\)?\Z|[).:]\s)")  # "B", "(B)" or "B) Paris"
_CALLED = re.compile(r"(?:option|choice|answer)[\s_]*(?=(?:[A-Za-z]|[0-9]+)\Z)", re.IGNORECASE)
# Columns whose cell can be a list as JSON. In an answer, that is one text.
_LISTS = {name for column in ("question", "choices", "context", "check") for name in NAMES[column]}
_MIN_SENTENCE, _MAX_PHRASE = 4, 10  # words of an answer that only judges can compare
_SAME = "Says the same as this reference answer:\n"
_SAME_AS_ONE = "Says the same as one of these reference answers:\n"
HOW_TO_CHOOSE = "End with “Answer:” and the letter."
Messages = Sequence[tuple[str, str]]  # roles and texts


class QuestionError(Exception):
    """The question itself can't be imported; the text says why."""


class WholeFileError(SuiteError):
    """A fault of one item that puts all others in doubt."""


# --- Choices


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices of a question, with labels of their own, if any; `right` is an index."""

    texts: Sequence[str]
    labels: Sequence[str] = ()
    right: int | None = None
    are_numbers: bool = False

    @property
    def _lines(self) -> Sequence[str]:
        texts = (" ".join(text.split()) for text in self.texts)
        return [f"{letter}) {text}" for letter, text in zip(ascii_uppercase, texts, strict=False)]

    def list_under(self, question: str) -> str:
        """Return the question with its choices."""
        return "\n".join([question, "", *self._lines, "", HOW_TO_CHOOSE])

    def answer_fields(self, answer: object, where: str) -> dict[str, str]:
        """Return the columns of the right choice; raise SuiteError if that is unclear."""
        at = self._find(answer, where) if self.right is None else self.right
        line = self._lines[at]
        is_whole = "|" not in line and len(line) <= MAX_ANSWER_CHARACTERS
        return {"answer": line if is_whole else ascii_uppercase[at], "grading": Grading.CHOICE}

    def _find(self, answer: object, where: str) -> int:
        """Return the index of the right choice, from its label, text, letter or index."""
        texts = texts_of(answer)
        if len(texts) != 1:
            raise SuiteError("several choices are right, and an answer can choose one only")
        [text] = texts
        short = _CALLED.sub("", text, count=1)
        marked = _MARKED.match(short)
        labels = [label.casefold() for label in self.labels or ascii_uppercase[: len(self.texts)]]
        label = (marked[1] if marked and short.casefold() not in labels else short).casefold()
        found = {n for n, one in enumerate(self.texts) if one.casefold() == text.casefold()}
        if label in labels:
            found |= {labels.index(label)}
        elif text.isdecimal() and not self.labels and (index := int(text[:9])) < len(self.texts):
            is_index = isinstance(answer, int) and not self.are_numbers
            found = {index} if is_index else {index} | found
        starts_at_one = text == "0" and "1" in labels
        if not found and text.isdecimal() and (not self.labels or starts_at_one):
            raise WholeFileError(
                f"{where}: the answer {text[:20]} is none of the {len(self.texts)} choices, which "
                f"count from {int(starts_at_one)}. Write the letter or the text of the right one."
            )
        if len(found) != 1:
            why = "could be several of the choices" if found else "is none of the choices"
            raise SuiteError(f"{text[:40]!r} {why}; write the letter")
        return found.pop()


def shuffle_choices(right: str, wrong: Sequence[str]) -> Choices:
    """Return the choices in an order that tells nothing, the same in each import."""
    texts = [right, *wrong]
    order = [*range(len(texts))]
    Random("\n".join(texts)).shuffle(order)  # noqa: S311 - no secret
    return Choices([texts[at] for at in order], right=order.index(0))


def parse_choices(name: str, value: Any) -> Choices:  # noqa: ANN401 - JSON
    """Return choices in a list, in a dictionary, or in lists of texts and labels."""
    labels: Any = ()
    value = load_text(value)
    if isinstance(value, dict) and isinstance(value.get("text", value.get("choices")), list):
        value, labels = (
            value.get("text", value.get("choices")),
            value.get("label", value.get("labels")),
        )
    elif isinstance(value, dict):
        value, labels = [*value.values()], [*value]
        if name in _SCORED:
            value, labels = labels, value
    elif isinstance(value, list) and all(isinstance(one, dict) for one in value):
        labels = [next((one[key] for key in _LABELS if key in one), None) for one in value]
    texts = [text for one in value for text in texts_of(one)] if isinstance(value, list) else []
    if not 1 < len(texts) == len(value) <= len(ascii_uppercase):
        raise QuestionError(f"its {name} are no list of 2 to 26 texts, such as a JSON list")
    if name in _SCORED:
        if not isinstance(labels, list) or labels.count(1) != 1 or len(labels) != len(texts):
            raise QuestionError(f"its {name} say of no single choice that it is right")
        at = labels.index(1)
        return shuffle_choices(texts[at], texts[:at] + texts[at + 1 :])
    marks = [_LETTER.match(text) for text in texts]
    if [mark[1] for mark in marks if mark] == [*ascii_uppercase[: len(texts)]]:
        texts = [_LETTER.sub("", text, count=1) for text in texts]
    shown = [text_of(label) for label in labels or () if is_scalar(label)]
    if shown and len({*shown}) != len(texts):
        raise QuestionError(f"its {name} have other labels than texts")
    return Choices(texts, shown, are_numbers=not any(isinstance(one, str) for one in value))


# --- Values


def is_scalar(value: object) -> bool:
    """Return whether a value is a text, a number or a truth value."""
    return isinstance(value, str | int | float)


def text_of(value: object) -> str:
    """Return a value as the text of a column; "" for null."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float() if not isfinite(value):
            return ""
        case str() | int() | float():
            return str(value).strip()
    return json.dumps(value, ensure_ascii=False)


def texts_of(value: Any) -> list[str]:  # noqa: ANN401 - JSON
    """Return the texts in a value, such as an answer with its aliases; none of another object."""
    if value is None or is_scalar(value):
        return [text_of(value)] if text_of(value) else []
    if isinstance(value, dict):
        filled = {normalize_name(str(key)): one for key, one in value.items() if _is_filled(one)}
        part = next((one for one in (*_TEXTS, *NAMES["answer"]) if one in filled), "")
        return texts_of(filled[part]) + texts_of(filled.get("aliases")) if part else []
    if any(isinstance(one, dict) and "role" in one for one in value):
        messages = parse_messages(value)
        return [messages[-1][1]] if messages else []
    found = [texts_of(one) for one in value if _is_filled(one)]
    return [*dict.fromkeys(text for texts in found for text in texts)] if all(found) else []


def answer_fields(name: str, value: object, grading: str) -> dict[str, str]:
    """Return the columns of right answers; raise SuiteError if no answer could be graded by them.

    One that is a sentence is for judges. An object is JSON.
    """
    if isinstance(value, bool) and not grading:
        value = ["true", "yes"] if value else ["false", "no"]
    texts = _right_texts(name, value)
    if not texts or grading == Grading.JSON:
        return reference_fields(Grading.JSON, text_of(value))
    if name in _INDICES and all(text.isdecimal() for text in texts):
        raise SuiteError("it is the number of a label, whose name is not in the file")
    if not grading and any(map(_is_sentence, texts)):
        rubric = (
            _SAME + texts[0]
            if len(texts) == 1
            else _SAME_AS_ONE + "\n".join(f"- {x}" for x in texts)
        )
        check_reference(Reference(Grading.JUDGE, rubric))
        return {"rubric": rubric}
    if not grading and name == "ideal" and len(texts) > 1:  # as OpenAI Evals matches them
        either = "|".join(
            str(regex.escape(x, special_only=True, literal_spaces=True)) for x in texts
        )
        return reference_fields(Grading.REGEX, rf"(?<!\w)(?:{either})(?!\w)")
    kinds = {default_reference(text).grading for text in texts}
    grading = grading or (kinds.pop() if len(kinds) == 1 else Grading.EXACT)
    values = [final_number(text) or text for text in texts]
    for text in values if grading in BUILT_IN else ():
        check_reference(Reference(grading, text))
    more = {"other_answers": json.dumps(values[1:], ensure_ascii=False)} if values[1:] else {}
    return {"answer": values[0], "grading": str(grading), **more}


def _right_texts(name: str, value: object) -> list[str]:
    """Return the texts of right answers; none of an object that is JSON."""
    texts = [_boxed(text) for text in texts_of(value)]
    fields = value.items() if isinstance(value, dict) else ()
    parts = [key for key, one in fields if _is_filled(one) and not _BESIDE.fullmatch(key)]
    if texts and len(parts) > 1:  # an object with more than a text
        if name != "ideal":
            raise SuiteError(f"it has several parts: {', '.join(parts)[:60]}; leave one of them")
        texts = []
    messages = value if isinstance(value, list) else ()
    if not texts and any(isinstance(one, dict) and "role" in one for one in messages):
        raise SuiteError("it has more than text, or a message with an unknown role")
    if any(_LISTED.match(text) for text in texts):
        raise SuiteError("it is a list or dictionary as a text; save the file as JSON")
    return texts


def _is_sentence(text: str) -> bool:
    """Return whether a text is so long that no answer would repeat it word by word."""
    if final_number(text):
        return False
    words = text.split()
    is_closed = len(words) >= _MIN_SENTENCE and text.endswith((".", "!", "?"))
    return is_closed or len(words) > _MAX_PHRASE or "\n" in text


def _boxed(text: str) -> str:
    r"""Return what a solution of MATH has in its last \boxed{…} or after \boxed; else the text.

    Raise SuiteError if that has no end.
    """
    _, box, inside = text.rpartition("\\boxed")
    if not box:
        return text
    inside, depth = inside.lstrip(), 0
    for end in range(len(inside)) if inside.startswith("{") else ():
        depth += (inside[end] == "{") - (inside[end] == "}")
        if depth == 0:
            return inside[1:end].strip() or text
    words = re.split(r"\$|\n|\.(?:\s|\Z)", inside, maxsplit=1)[0].split()
    if len(words) != 1 or words[0].startswith("{"):
        raise SuiteError("its \\boxed has no braces around the answer; add them")
    return words[0]


def reference_fields(grading: str, value: str) -> dict[str, str]:
    """Return the columns of a reference; raise SuiteError if no answer could be graded by it."""
    check_reference(Reference(grading, value))
    return {"answer": value, "grading": str(grading)}


def flatten_item(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an item that are not empty, with those of the objects around them."""
    fields = {name: load_text(one, "{[" if name in _LISTS else "{") for name, one in item.items()}
    for name in _CONTAINERS:
        if isinstance(inner := fields.get(name), dict):
            del fields[name]
            fields |= flatten_item({normalize_name(str(key)): one for key, one in inner.items()})
    for name, listed in [*fields.items()]:
        if name not in {*NAMES["choices"], *NAMES["answer"]} or not isinstance(listed, list):
            continue
        if listed and None not in map(_is_right, listed):
            right = [one for one in listed if _is_right(one)]
            del fields[name]
            fields["correct_answer"] = right
            fields |= {"choices": listed} if len(right) < len(listed) else {}
    return {name: one for name, one in fields.items() if _is_filled(one)}


def _is_right(choice: object) -> bool | None:
    """Return whether a choice says that it is right; None if it says nothing about that."""
    for name, flag in choice.items() if isinstance(choice, dict) else ():
        if normalize_name(str(name)) in _FLAGS:
            return "correct" in flag if isinstance(flag, list) else flag is True
    return None


def _is_filled(value: Any) -> bool:  # noqa: ANN401 - JSON
    """Return whether there is a text, number or truth value anywhere in a value."""
    if isinstance(value, dict):
        return any(map(_is_filled, value.values()))
    if isinstance(value, list):
        return any(map(_is_filled, value))
    return value not in (None, "") and not (isinstance(value, float) and not isfinite(value))


def count_values(value: Any) -> int:  # noqa: ANN401 - JSON
    """Return how many texts, numbers and truth values are in a value."""
    if isinstance(value, dict):
        return sum(map(count_values, value.values()))
    return sum(map(count_values, value)) if isinstance(value, list) else 1


def load_text(value: object, starts: str = "{[") -> object:
    """Return the list or object of a cell that has one as JSON; else the value."""
    if isinstance(value, str) and value.startswith((*starts,)):
        with suppress(ValueError, RecursionError):
            return parse_json(value)
    return value


# --- Conversations


def parse_messages(value: object) -> Messages | None:
    """Return the messages of a chat, or turns of a person; None for anything else.

    It is something else, too, if a message has more than text or another role.
    """
    messages: list[tuple[str, str]] = []
    for one in value if isinstance(value, list) else ():
        message = {"content": one} if isinstance(one, str) else one
        if not isinstance(message, dict):
            return None
        role = next((message[name] for name in _SPEAKERS if message.get(name)), "user")
        role = _ROLES.get(str(role).strip().lower())
        if role is None or any(message.get(name) for name in _CALLS):
            return None
        content = message.get("content", message.get("value"))
        parts = content if isinstance(content, list) else [{"text": content}]
        texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
        if not all(isinstance(text, str) for text in texts):
            return None
        messages.append((role, "\n".join(map(str, texts))))
    return messages or None


def context_of(messages: Messages) -> str:
    """Return the messages before the last one as the context of a question."""
    before = messages[:-1]
    if [role for role, _ in before] == ["system"]:
        return before[0][1]
    return "\n\n".join(f"{role.capitalize()}: {text}" for role, text in before)
