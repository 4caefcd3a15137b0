"""Column mapper: makes a question of an item with columns of a data set or another tool.

What a suite cannot have is returned as LeftOut, with its place in the file; nothing is dropped.
A question that lost a check is not graded by the others, unless that is asked for.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from bot.bakeoffs.column_names import (
    COLUMNS,
    IGNORED,
    KEY,
    LETTERED,
    MAX_NAMED,
    MEDIA,
    MODEL,
    NAMES,
    NEXT_TO,
    NO_QUESTION,
    NUMBERED,
    WRITTEN,
    WRONG,
    columns_sentence,
    normalize_name,
)
from bot.bakeoffs.file_parsers import MAX_COLUMNS
from bot.bakeoffs.item_values import (
    Choices,
    Messages,
    QuestionError,
    WholeFileError,
    answer_fields,
    context_of,
    count_values,
    flatten_item,
    is_scalar,
    load_text,
    parse_choices,
    parse_messages,
    shuffle_choices,
    text_of,
    texts_of,
)
from council.bakeoffs.graders import (
    MAX_ANSWER_CHARACTERS,
    MAX_OTHERS,
)
from council.bakeoffs.models import Grading
from council.errors import SuiteError

_GRADED_BY = ("other_answers", "grading", "tolerance", "rubric", "checks")
_MAX_CATEGORY = 60  # characters
_MAX_ANSWERS = MAX_OTHERS + 1


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
        if is_ours and all(one is None or is_scalar(one) for one in given.values()):
            yield Entry(where, {name: text_of(one) for name, one in given.items()})
            return
        fields = flatten_item(given)
        mapped = _Item(fields, {*names, *fields}, self, where)
        if len(mapped.fields) > MAX_COLUMNS:
            raise SuiteError(f"{where} has more than {MAX_COLUMNS:,} columns. Remove some.")
        if self.chosen:
            self._seen.update(names, mapped.fields)
        try:
            columns = mapped.columns()
        except QuestionError as error:
            yield LeftOut(where, "question", str(error))
            return
        lost = mapped.lost
        lost += [
            LeftOut(where, names.get(name, name)[:40], "only its own tool can check answers by it")
            for name in NAMES["check"]
            if name in mapped.fields and name not in mapped.used
        ]
        is_graded = bool({"answer", "rubric"} & columns.keys())
        known = {*mapped.used, *NAMES["check"], *IGNORED}
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
        if len(self._named) > MAX_NAMED:
            yield make("Line 1", "other columns", f"there are more than {MAX_NAMED}")
        else:
            quoted = f'"{name}"' if " " in name else name
            why = (
                f"a suite has no such column; if it is the answer, add it as in `--answer {quoted}`"
            )
            yield make(where, name, why)


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
        """Return our columns; raise QuestionError, or SuiteError about the whole file."""
        if "truncated_cells" in self.fields:
            raise QuestionError("its cells were cut off; download the whole data set")
        self._exclude()
        self._rename()
        columns = {name: text_of(self.fields[name]) for name in _GRADED_BY if name in self.fields}
        self.used |= columns.keys()
        messages, reply = self._take_question()
        name, answer = self._take_answer(reply)
        turns = [text for role, text in messages if role == "user"]
        if isinstance(answer, list) and 1 < len(turns) == len(messages) == len(answer):
            # A reference for each turn, as in MT-bench: the reply to it, and the answer.
            pairs = zip(messages, answer, strict=True)
            messages = [
                one for turn, reply in pairs for one in (turn, ("assistant", text_of(reply)))
            ]
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
                columns |= answer_fields(name, answer, columns.get("grading", ""))
        except WholeFileError:
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
        for name in {*NAMES["answer"], *WRITTEN, *self._chosen} & self.fields.keys():
            if count_values(self.fields[name]) > _MAX_ANSWERS:
                self._lose(name, f"it has more than {_MAX_ANSWERS} answers")
        flag = text_of(self.fields.get("correct")).casefold() if "correct" in self.names else "none"
        if flag in {"true", "false", ""}:
            self.excluded |= {"correct", *WRITTEN} - self._chosen
        elif _matching(MODEL, (*self.names,)):
            self.excluded |= WRITTEN - self._chosen

    def _rename(self) -> None:
        chosen = self._chosen
        for (name, other), meaning in NEXT_TO.items():
            if {name, other} <= self.fields.keys() and name not in chosen | self.excluded:
                if meaning in self.fields:
                    self.excluded.add(name)
                else:
                    self.fields[meaning] = self.fields.pop(name)
        for name in ("reference", "references"):  # what an answer cites
            texts = texts_of(self.fields.get(name))
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
        media = _matching(MEDIA, (*self.fields,))
        if name := next((one for one in media if one not in self._chosen), ""):
            raise QuestionError(f"it has {name[:20]}, and models get only text")
        name = self._pick("question")
        could_be = [one for one in NAMES["question"] if one in self.fields]
        if len(could_be) > 1 and "question" not in self.mapper.chosen:
            raise SuiteError(
                f"{self.where} has two columns that could be the question: {could_be[0]} and "
                f"{could_be[1]}. Say which, as in `--question {could_be[0]}`."
            )
        if not name:
            raise QuestionError(f"{NO_QUESTION}. {columns_sentence(self.fields)}".rstrip("."))
        value = load_text(self.fields[name])
        messages = [("user", text_of(value))] if is_scalar(value) else parse_messages(value)
        if not messages:
            raise QuestionError(
                "it has more than text, or a message with an unknown role; models get only text"
            )
        reply = messages[-1][1] if messages[-1][0] == "assistant" else ""
        messages = messages[:-1] if reply else messages
        if not messages or messages[-1][0] != "user":
            raise QuestionError("its last message before a reply is not by a user")
        return messages, reply

    def _take_answer(self, reply: str) -> tuple[str, Any]:
        """Return the name and value of the answer: a reply counts where no column has one."""
        name = self._pick("answer") or self._pick_key()
        if not name and not reply:
            for one in sorted({"correct", *WRITTEN} & self.excluded & self.fields.keys()):
                why = "it seems to be what a model wrote, or its grade"
                self._lose(one, f"{why}; if it is the answer, add `--answer {one}`")
        if reply and name:
            raise QuestionError("a message follows the question, and models can't continue a reply")
        return (name, self.fields[name]) if name else ("the last message", reply or None)

    def _pick_key(self) -> str:
        """Return the name of the field that says which choice is right; "" for none."""
        choices = [one for one in self.fields if one in NAMES["choices"]]
        names = (*self.fields,)
        parts = (*_matching(LETTERED, names), *_matching(NUMBERED, names))
        if not choices and len(parts) <= 1:
            return ""
        keys = [one for one in _matching(KEY, names) if one not in self.used]
        self.used |= {*keys[:1]}
        return next(iter(keys), "")

    def _category(self) -> str:
        name, metadata = self._pick("category"), self.fields.get("metadata")
        nested = metadata.get("category") if isinstance(metadata, dict) else None
        value = self.fields[name] if name else nested
        if is_scalar(value) and len(text_of(value)) <= _MAX_CATEGORY:
            return text_of(value)
        self.used.discard(name)
        return ""

    def _context(self) -> str:
        name = self._pick("context")
        if not name or (texts := texts_of(load_text(self.fields[name]))):
            return "\n\n".join(texts) if name else ""
        self.used.discard(name)
        return ""

    def _choices(self, answer_name: str, answer: object) -> "Choices | None":
        """Return the choices of a question; None if it has none."""
        if name := self._pick("choices"):
            return parse_choices(name, self.fields[name])
        names = (*sorted(self.fields),) if answer is not None else ()
        for pattern in (LETTERED, NUMBERED):
            found = {name: pattern.sub(r"\1", name) for name in _matching(pattern, names)}
            if len(found) > 1 and all(is_scalar(self.fields[name]) for name in found):
                self.used |= found.keys()
                texts = [text_of(self.fields[name]) for name in found]
                is_index = pattern is NUMBERED and answer_name == "label"
                return Choices(texts, [] if is_index else [*found.values()])
        wrong = _matching(WRONG, (*self.fields,))
        wrong = wrong or [name for name in NAMES["wrong choices"] if name in self.fields][:1]
        texts = [text for name in wrong for text in texts_of(load_text(self.fields[name]))]
        right = texts_of(answer)
        if not texts or len(right) != 1:
            return None
        self.used |= {*wrong}
        return shuffle_choices(right[0], texts)
