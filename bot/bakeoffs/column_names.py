"""Column names of data sets and other tools, and how an item of theirs becomes our columns.

What a suite cannot have is returned as LeftOut, with its place in the file; nothing is dropped.
A question that lost a check is not graded by the others, unless that is asked for.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from math import isfinite
from random import Random
from string import ascii_uppercase
from typing import Any, NamedTuple

import regex

from bot.bakeoffs.file_parsers import MAX_COLUMNS, parse_json
from council.bakeoffs.graders import (
    BUILT_IN,
    MAX_ANSWER_CHARACTERS,
    MAX_OTHERS,
    check_reference,
    default_reference,
    final_number,
)
from council.bakeoffs.models import Grading, Reference
from council.errors import SuiteError

COLUMNS = (
    "question",
    "category",
    "answer",
    "other_answers",
    "grading",
    "tolerance",
    "rubric",
    "context",
    "checks",
)

# The names of each column elsewhere, in lower case with underscores. The first one that an item
# has counts; but an item with two that could be the question is refused.
_TABLE = {
    "question": """
        question questions prompt prompts input inputs problem problem_statement instruction query
        user_input question_stem stem sentence goal ctx text ticket_text turns messages
        conversation conversations conversation_input""",
    "answer": """
        correct_answer best_answer correct_label correct_option correct_index
        correct_answer_index answer_key final_answer final_decision exact_answer short_answer
        possible_answers ground_truth ground_truths gold gold_answer answer_number expected
        expected_answer expected_output expected_response reference_answer reference_response
        reference_output reference_outputs ideal reference references answer target targets
        answers answers_spans correct_answers solution label answer_idx answer_index output
        outputs completion right_answer correct_choice correct_letter correct""",
    "choices": "choices options endings answer_choices mc1_targets target_scores",
    "wrong choices": "incorrect_answers wrong_answers distractors",
    "category": """
        category subject subset topic task domain high_level_domain subdomain task_name
        activity_label type dataset""",
    "context": """
        context contexts passage article support paragraph background document documents story
        premise body puzzle narrative system_prompt system
        retrieved_contexts reference_contexts retrieval_context""",
    # What only its own tool can check, so that a question with one has no grade here.
    "check": """
        test tests test_list test_cases test_patch unit_tests input_output public_tests
        private_tests canonical_solution entry_point code patch instruction_id_list kwargs assert
        assertions asserts rubrics checklist grader graders scorer scorers evaluator evaluators
        criteria expected_tools expected_tool_calls expected_outcome expected_facts
        expected_chunks""",
}
NAMES: Mapping[str, Sequence[str]] = {column: names.split() for column, names in _TABLE.items()}
# Names that mean something else next to another column.
_NEXT_TO: Mapping[tuple[str, str], str] = {
    ("input", "instruction"): "context",  # Alpaca
    ("response", "instruction"): "answer",  # Dolly
    ("correct", "answers"): "correct_answer",  # of a quiz
    ("answers", "correct_answer"): "choices",
    ("answers", "correct_index"): "choices",
}
# Columns that are no part of a question, and can't be its answer.
_IGNORED_NAMES = """
    id ids ind idx index uid uuid question_id example_id sample_id item_id doc_id task_id prompt_id
    record_id row_id unique_id row_idx row_index question_index source source_id source_file
    source_trace_id src url metadata additional_metadata split split_type created_at updated_at
    unnamed_0"""
_IGNORED = {"", *_IGNORED_NAMES.split()}
# Which choice is right, in columns that mean this only next to choices.
_KEY = re.compile(
    r"key|cop|(?:right|correct|true|best|gold|answer|solution|target|label)(?:_[a-z]+)*"
    r"_(?:i[dx]|idx|index|letter|key|number|no|label)"
)
_MEDIA = re.compile(
    r"(?:[a-z]+_)?(?:image|picture|photo|audio|video)s?(?:_(?:[0-9]+|url|path|bytes|file))?"
    r"|file_name|tools"
)
# What a model wrote, if there is a column such as its model, its score or its time.
_WRITTEN = {"output", "outputs", "completion", "answer", "response"}
_MODEL = re.compile(r"model|model_id|model_name|generator|score|latency.*")
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
# Choices in columns of their own: A to J, or numbered; and columns with wrong answers.
_LETTERED = re.compile(r"(?:(?:option|choice|op|answer)_?)?([a-j])")
_NUMBERED = re.compile(r"(?:option|choice|sol|ending|ans)_?([0-9])")
_WRONG = re.compile(r"(?:(?:best_)?incorrect_answer|wrong_answer|distractor)(?:_?[0-9])?")
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
_GRADED_BY = ("other_answers", "grading", "tolerance", "rubric", "checks")
# Columns whose cell can be a list as JSON. In an answer, that is one text.
_LISTS = {name for column in ("question", "choices", "context", "check") for name in NAMES[column]}
_MAX_CATEGORY = 60  # characters
_MAX_NAMED = 50  # columns that are left out of a file
_MAX_ANSWERS = MAX_OTHERS + 1
_MIN_SENTENCE, _MAX_PHRASE = 4, 10  # words of an answer that only judges can compare
_SAME = "Says the same as this reference answer:\n"
_SAME_AS_ONE = "Says the same as one of these reference answers:\n"
NO_QUESTION = (
    "it has no column with a question, such as question, prompt or input; name yours, as in "
    "`--question title`"
)
HOW_TO_CHOOSE = "End with “Answer:” and the letter."


class Entry(NamedTuple):
    """A question's place in its file, such as "Line 7", and its fields by column.

    An invalid question that is imported is left out; any other makes its file invalid. Of its
    `checks`, an imported question lost those with these names.
    """

    where: str
    fields: Mapping[str, str]
    is_imported: bool = False
    checks: int = 0
    lost: Sequence[str] = ()

    def columns(self, *, partial: bool) -> Mapping[str, str]:
        """Return its fields; if it lost checks, with no grader, or with the rest if `partial`."""
        if not self.lost:
            return self.fields
        kept = f"{self.checks - len(self.lost)} of {self.checks}"
        if partial and {"answer", "rubric"} & self.fields.keys():
            return {**self.fields, "checks": kept}
        names = ", ".join(dict.fromkeys(self.lost))[:MAX_ANSWER_CHARACTERS]
        missing = {"answer": names, "grading": Grading.MISSING.value, "checks": kept}
        return {name: self.fields.get(name, "") for name in ASKED} | missing


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part of a file that cannot be imported: its place, its name, and why."""

    where: str
    name: str
    why: str


class Unneeded(LeftOut):
    """A part without which every question and check is whole."""


Imported = Iterator[Entry | LeftOut]
ASKED = ("question", "category", "context")  # columns that are no part of a grader
Messages = Sequence[tuple[str, str]]  # roles and texts


@lru_cache(maxsize=4096)
def normalize_name(name: str) -> str:
    """Return a column's name in lower case with underscores: "correct_answer"."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip()[:100])
    return re.sub(r"\W+", "_", spaced.lower()).strip("_") or spaced


@lru_cache(maxsize=256)  # the lines of a file have the same columns
def _matching(pattern: re.Pattern[str], names: tuple[str, ...]) -> Sequence[str]:
    return [name for name in names if pattern.fullmatch(name)]


@dataclass(frozen=True, slots=True)
class ColumnMapper:
    """Maps the items of one file; `chosen` has the names given for columns, as by `--question`.

    Each column that is left out is named once.
    """

    chosen: Mapping[str, str] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)
    _named: set[str] = field(default_factory=set)

    def check_chosen(self) -> None:
        """Raise SuiteError for a chosen column that no item had."""
        for column, name in self.chosen.items():
            if normalize_name(name) not in self._seen:
                raise SuiteError(
                    f"There is no column {name[:40]!r} for `--{column}`. "
                    f"{columns_sentence(sorted(self._seen))}"
                )

    def has_question(self, names: Iterable[str]) -> bool:
        """Return whether one of these columns could be the question."""
        chosen = self.chosen.get("question")
        wanted = [normalize_name(chosen)] if chosen else NAMES["question"]
        return any(normalize_name(name) in wanted for name in names)

    def map_item(self, item: Mapping[str, object], where: str) -> Imported:
        """Yield the question of an item, and what of it is left out.

        An item with nothing but our columns and texts is strict: a fault in it is one of the file.
        Raise SuiteError where an item puts the whole file in doubt.
        """
        if len(item) > MAX_COLUMNS:
            raise SuiteError(f"{where} has more than {MAX_COLUMNS:,} columns. Remove some.")
        names = {normalize_name(name): name for name in item}
        if len(names) < len(item):
            raise SuiteError(f"{where} has two columns of nearly the same name. Keep one.")
        given = {name: item[original] for name, original in names.items()}
        is_ours = names.keys() <= {*COLUMNS} and "question" in names and not self.chosen
        if is_ours and all(one is None or _is_scalar(one) for one in given.values()):
            yield Entry(where, {name: _text(one) for name, one in given.items()})
            return
        fields = _flatten(given)
        mapped = _Item(fields, {*names, *fields}, self, where)
        if len(mapped.fields) > MAX_COLUMNS:
            raise SuiteError(f"{where} has more than {MAX_COLUMNS:,} columns. Remove some.")
        if self.chosen:
            self._seen.update(names, mapped.fields)
        try:
            columns = mapped.columns()
        except _QuestionError as error:
            yield LeftOut(where, "question", str(error))
            return
        lost = mapped.lost
        lost += [
            LeftOut(where, names.get(name, name)[:40], "only its own tool can check answers by it")
            for name in NAMES["check"]
            if name in mapped.fields and name not in mapped.used
        ]
        is_graded = bool({"answer", "rubric"} & columns.keys())
        known = {*mapped.used, *NAMES["check"], *_IGNORED}
        for name in mapped.fields:
            if name not in known:
                yield from self._leave_out(names.get(name, name)[:40], where, is_whole=is_graded)
        yield from lost
        checks = len(lost) + is_graded
        lost_names = [one.name for one in lost]
        yield Entry(where, columns, is_imported=True, checks=checks, lost=lost_names)

    def _leave_out(self, name: str, where: str, *, is_whole: bool) -> Iterator[LeftOut]:
        """Yield a column that is left out; it could be the answer of a question without a grade."""
        if name in self._named:
            return
        self._named.add(name)
        make = Unneeded if is_whole else LeftOut
        if len(self._named) > _MAX_NAMED:
            yield make("Line 1", "other columns", f"there are more than {_MAX_NAMED}")
        else:
            quoted = f'"{name}"' if " " in name else name
            why = (
                f"a suite has no such column; if it is the answer, add it as in `--answer {quoted}`"
            )
            yield make(where, name, why)


def columns_sentence(names: Iterable[str]) -> str:
    """Return a sentence with the names of columns."""
    shown = [name.strip()[:40] for name in islice(names, _MAX_NAMED)]
    return f"The columns are: {', '.join(filter(None, shown)) or 'none'}."


class _QuestionError(Exception):
    """The question itself can't be imported; the text says why."""


class _FileError(SuiteError):
    """A fault of one item that puts all others in doubt."""


@dataclass(slots=True)
class _Item:
    """One item that is mapped: its fields, those that were used, and the checks it lost."""

    fields: dict[str, Any]
    names: Collection[str]  # of all columns, also empty ones
    mapper: ColumnMapper
    where: str
    used: set[str] = field(default_factory=set)
    excluded: set[str] = field(default_factory=set)
    lost: list[LeftOut] = field(default_factory=list)

    def columns(self) -> dict[str, str]:
        """Return our columns; raise _QuestionError, or SuiteError about the whole file."""
        if "truncated_cells" in self.fields:
            raise _QuestionError("its cells were cut off; download the whole data set")
        self._exclude()
        self._rename()
        columns = {name: _text(self.fields[name]) for name in _GRADED_BY if name in self.fields}
        self.used |= columns.keys()
        messages, reply = self._take_question()
        name, answer = self._take_answer(reply)
        turns = [text for role, text in messages if role == "user"]
        if isinstance(answer, list) and 1 < len(turns) == len(messages) == len(answer):
            # A reference for each turn, as in MT-bench: the reply to it, and the answer.
            pairs = zip(messages, answer, strict=True)
            messages = [one for turn, reply in pairs for one in (turn, ("assistant", _text(reply)))]
            messages, answer = messages[:-1], answer[-1]
        context = filter(None, (self._context(), context_of(messages)))
        columns |= {"question": messages[-1][1], "category": self._category()}
        columns["context"] = "\n\n".join(context)
        if choices := self._choices(name, answer):
            columns["question"] = choices.list_under(columns["question"])
        try:
            if choices and (choices.right is not None or answer is not None):
                columns |= choices.answer_fields(answer, self.where)
            elif answer is None or "rubric" in columns:
                self.used.discard(name)
            else:
                columns |= _answer_fields(name, answer, columns.get("grading", ""))
        except _FileError:
            raise
        except SuiteError as error:
            self._lose(name, str(error))
        return {name: text for name, text in columns.items() if text}

    @property
    def _chosen(self) -> set[str]:
        return {*map(normalize_name, self.mapper.chosen.values())}

    def _lose(self, name: str, why: str) -> None:
        self.used.add(name)
        self.lost.append(LeftOut(self.where, name, why))

    def _exclude(self) -> None:
        """Exclude answers too many to compare, and those that a model seems to have written."""
        for name in {*NAMES["answer"], *_WRITTEN, *self._chosen} & self.fields.keys():
            if _count(self.fields[name]) > _MAX_ANSWERS:
                self._lose(name, f"it has more than {_MAX_ANSWERS} answers")
        flag = _text(self.fields.get("correct")).casefold() if "correct" in self.names else "none"
        if flag in {"true", "false", ""}:
            self.excluded |= {"correct", *_WRITTEN} - self._chosen
        elif _matching(_MODEL, (*self.names,)):
            self.excluded |= _WRITTEN - self._chosen

    def _rename(self) -> None:
        chosen = self._chosen
        for (name, other), meaning in _NEXT_TO.items():
            if {name, other} <= self.fields.keys() and name not in chosen | self.excluded:
                if meaning in self.fields:
                    self.excluded.add(name)
                else:
                    self.fields[meaning] = self.fields.pop(name)
        for name in ("reference", "references"):  # what an answer cites
            texts = _texts(self.fields.get(name))
            if texts and all(text.startswith(("http://", "https://")) for text in texts):
                self.excluded.add(name)

    def _pick(self, column: str) -> str:
        """Return the name of the field for a column, which counts as used; "" for none."""
        names = NAMES[column]
        if chosen := self.mapper.chosen.get(column):
            names = (normalize_name(chosen),)
        taken = self.used | self.excluded
        found = (one for one in names if one in self.fields and one not in taken)
        name = next(found, "")
        self.used |= {name} - {""}
        return name

    def _take_question(self) -> tuple[Messages, str]:
        """Return the messages up to the question, and the reply that follows it, if any."""
        media = _matching(_MEDIA, (*self.fields,))
        if name := next((one for one in media if one not in self._chosen), ""):
            raise _QuestionError(f"it has {name[:20]}, and models get only text")
        name = self._pick("question")
        could_be = [one for one in NAMES["question"] if one in self.fields]
        if len(could_be) > 1 and "question" not in self.mapper.chosen:
            raise SuiteError(
                f"{self.where} has two columns that could be the question: {could_be[0]} and "
                f"{could_be[1]}. Say which, as in `--question {could_be[0]}`."
            )
        if not name:
            raise _QuestionError(f"{NO_QUESTION}. {columns_sentence(self.fields)}".rstrip("."))
        value = _load(self.fields[name])
        messages = [("user", _text(value))] if _is_scalar(value) else parse_messages(value)
        if not messages:
            raise _QuestionError(
                "it has more than text, or a message with an unknown role; models get only text"
            )
        reply = messages[-1][1] if messages[-1][0] == "assistant" else ""
        messages = messages[:-1] if reply else messages
        if not messages or messages[-1][0] != "user":
            raise _QuestionError("its last message before a reply is not by a user")
        return messages, reply

    def _take_answer(self, reply: str) -> tuple[str, Any]:
        """Return the name and value of the answer: a reply counts where no column has one."""
        name = self._pick("answer") or self._pick_key()
        if not name and not reply:
            for one in sorted({"correct", *_WRITTEN} & self.excluded & self.fields.keys()):
                why = "it seems to be what a model wrote, or its grade"
                self._lose(one, f"{why}; if it is the answer, add `--answer {one}`")
        if reply and name:
            raise _QuestionError(
                "a message follows the question, and models can't continue a reply"
            )
        return (name, self.fields[name]) if name else ("the last message", reply or None)

    def _pick_key(self) -> str:
        """Return the name of the field that says which choice is right; "" for none."""
        choices = [one for one in self.fields if one in NAMES["choices"]]
        names = (*self.fields,)
        parts = (*_matching(_LETTERED, names), *_matching(_NUMBERED, names))
        if not choices and len(parts) <= 1:
            return ""
        keys = [one for one in _matching(_KEY, names) if one not in self.used]
        self.used |= {*keys[:1]}
        return next(iter(keys), "")

    def _category(self) -> str:
        name, metadata = self._pick("category"), self.fields.get("metadata")
        nested = metadata.get("category") if isinstance(metadata, dict) else None
        value = self.fields[name] if name else nested
        if _is_scalar(value) and len(_text(value)) <= _MAX_CATEGORY:
            return _text(value)
        self.used.discard(name)
        return ""

    def _context(self) -> str:
        name = self._pick("context")
        if not name or (texts := _texts(_load(self.fields[name]))):
            return "\n\n".join(texts) if name else ""
        self.used.discard(name)
        return ""

    def _choices(self, answer_name: str, answer: object) -> "_Choices | None":
        """Return the choices of a question; None if it has none."""
        if name := self._pick("choices"):
            return _parse_choices(name, self.fields[name])
        names = (*sorted(self.fields),) if answer is not None else ()
        for pattern in (_LETTERED, _NUMBERED):
            found = {name: pattern.sub(r"\1", name) for name in _matching(pattern, names)}
            if len(found) > 1 and all(_is_scalar(self.fields[name]) for name in found):
                self.used |= found.keys()
                texts = [_text(self.fields[name]) for name in found]
                is_index = pattern is _NUMBERED and answer_name == "label"
                return _Choices(texts, [] if is_index else [*found.values()])
        wrong = _matching(_WRONG, (*self.fields,))
        wrong = wrong or [name for name in NAMES["wrong choices"] if name in self.fields][:1]
        texts, right = (
            [text for name in wrong for text in _texts(_load(self.fields[name]))],
            _texts(answer),
        )
        if not texts or len(right) != 1:
            return None
        self.used |= {*wrong}
        return _shuffle(right[0], texts)


# --- Choices


@dataclass(frozen=True, slots=True)
class _Choices:
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
        texts = _texts(answer)
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
            raise _FileError(
                f"{where}: the answer {text[:20]} is none of the {len(self.texts)} choices, which "
                f"count from {int(starts_at_one)}. Write the letter or the text of the right one."
            )
        if len(found) != 1:
            why = "could be several of the choices" if found else "is none of the choices"
            raise SuiteError(f"{text[:40]!r} {why}; write the letter")
        return found.pop()


def _shuffle(right: str, wrong: Sequence[str]) -> _Choices:
    """Return the choices in an order that tells nothing, the same in each import."""
    texts = [right, *wrong]
    order = [*range(len(texts))]
    Random("\n".join(texts)).shuffle(order)  # noqa: S311 - no secret
    return _Choices([texts[at] for at in order], right=order.index(0))


def _parse_choices(name: str, value: Any) -> _Choices:  # noqa: ANN401 - JSON
    """Return choices in a list, in a dictionary, or in lists of texts and labels."""
    labels: Any = ()
    value = _load(value)
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
    texts = [text for one in value for text in _texts(one)] if isinstance(value, list) else []
    if not 1 < len(texts) == len(value) <= len(ascii_uppercase):
        raise _QuestionError(f"its {name} are no list of 2 to 26 texts, such as a JSON list")
    if name in _SCORED:
        if not isinstance(labels, list) or labels.count(1) != 1 or len(labels) != len(texts):
            raise _QuestionError(f"its {name} say of no single choice that it is right")
        at = labels.index(1)
        return _shuffle(texts[at], texts[:at] + texts[at + 1 :])
    marks = [_LETTER.match(text) for text in texts]
    if [mark[1] for mark in marks if mark] == [*ascii_uppercase[: len(texts)]]:
        texts = [_LETTER.sub("", text, count=1) for text in texts]
    shown = [_text(label) for label in labels or () if _is_scalar(label)]
    if shown and len({*shown}) != len(texts):
        raise _QuestionError(f"its {name} have other labels than texts")
    return _Choices(texts, shown, are_numbers=not any(isinstance(one, str) for one in value))


# --- Values


def _is_scalar(value: object) -> bool:
    return isinstance(value, str | int | float)


def _text(value: object) -> str:
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


def _texts(value: Any) -> list[str]:  # noqa: ANN401 - JSON
    """Return the texts in a value, such as an answer with its aliases; none of another object."""
    if value is None or _is_scalar(value):
        return [_text(value)] if _text(value) else []
    if isinstance(value, dict):
        filled = {normalize_name(str(key)): one for key, one in value.items() if _is_filled(one)}
        part = next((one for one in (*_TEXTS, *NAMES["answer"]) if one in filled), "")
        return _texts(filled[part]) + _texts(filled.get("aliases")) if part else []
    if any(isinstance(one, dict) and "role" in one for one in value):
        messages = parse_messages(value)
        return [messages[-1][1]] if messages else []
    found = [_texts(one) for one in value if _is_filled(one)]
    return [*dict.fromkeys(text for texts in found for text in texts)] if all(found) else []


def _answer_fields(name: str, value: object, grading: str) -> dict[str, str]:
    """Return the columns of right answers; raise SuiteError if no answer could be graded by them.

    One that is a sentence is for judges. An object is JSON.
    """
    if isinstance(value, bool) and not grading:
        value = ["true", "yes"] if value else ["false", "no"]
    texts = _right_texts(name, value)
    if not texts or grading == Grading.JSON:
        return reference_fields(Grading.JSON, _text(value))
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
    texts = [_boxed(text) for text in _texts(value)]
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


def _flatten(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an item that are not empty, with those of the objects around them."""
    fields = {name: _load(one, "{[" if name in _LISTS else "{") for name, one in item.items()}
    for name in _CONTAINERS:
        if isinstance(inner := fields.get(name), dict):
            del fields[name]
            fields |= _flatten({normalize_name(str(key)): one for key, one in inner.items()})
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


def _count(value: Any) -> int:  # noqa: ANN401 - JSON
    """Return how many texts, numbers and truth values are in a value."""
    if isinstance(value, dict):
        return sum(map(_count, value.values()))
    return sum(map(_count, value)) if isinstance(value, list) else 1


def _load(value: object, starts: str = "{[") -> object:
    """Return the list or object of a cell that has one as JSON; else the value."""
    if isinstance(value, str) and value.startswith((*starts,)):
        with suppress(ValueError, RecursionError):
            return parse_json(value)
    return value


# --- Conversations


def parse_messages(value: object) -> Messages | None:
    """Return the messages of a chat, or turns of a person; None if it is none, or not only text.

    None also if somebody else says something.
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
