"""Importers of suites that were written for promptfoo (YAML) or OpenAI Evals (JSON Lines).

What a suite cannot have is returned as LeftOut, with its place in the file; nothing is dropped.
A question that lost a check is not graded by the others, unless somebody asks for that.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import isfinite, prod
from typing import NamedTuple

import regex
import yaml

from bot.chat import MAX_QUESTION_CHARACTERS
from council.bakeoffs.graders import (
    ANY_JSON,
    MAX_ANSWER_CHARACTERS,
    check_reference,
    default_reference,
)
from council.bakeoffs.models import Grading, Reference
from council.errors import SuiteError


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
        return {name: self.fields.get(name, "") for name in _ASKED} | missing


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part of a file that cannot be imported: its place, its name, and why."""

    where: str
    name: str
    why: str


Imported = Iterator[Entry | LeftOut]
_ASKED = ("question", "category", "context")  # columns that are no part of a grader
_Messages = Sequence[tuple[str, str]]  # roles and texts


def _question_fields(messages: _Messages) -> dict[str, str]:
    """Return the last message of a person, or the last one, as question; those before as context.

    Raise SuiteError for messages after the question.
    """
    roles = [role for role, _ in messages]
    at = len(roles) - 1 - roles[::-1].index("user") if "user" in roles else len(roles) - 1
    if at < len(roles) - 1:
        raise SuiteError("a message follows the question, and models can't continue a reply")
    before = messages[:at]
    if [role for role, _ in before] == ["system"]:
        context = before[0][1]
    else:
        context = "\n\n".join(f"{role.capitalize()}: {text}" for role, text in before)
    return {"question": messages[at][1], "context": context}


def _reference_fields(grading: str, value: str) -> dict[str, str]:
    """Return the columns of a reference; raise SuiteError if no answer could be graded by it."""
    check_reference(Reference(grading, value))
    return {"answer": value, "grading": str(grading)}


def _parse_messages(value: object) -> _Messages | None:
    """Return the messages of a chat in OpenAI's form; None if it is none, or not only text."""
    if not isinstance(value, list) or not value:
        return None
    messages: list[tuple[str, str]] = []
    for message in value:
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            return None
        content = message.get("content")
        parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
        texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
        if not all(isinstance(text, str) for text in texts):
            return None
        messages.append((message["role"], "\n".join(map(str, texts))))
    return messages


# --- OpenAI Evals

_EVALS_QUESTIONS = ("question", "input", "prompt", "query", "problem", "text", "ticket_text")
_EVALS_ANSWERS = (
    "ideal",
    "answer",
    "correct_label",
    "expected",
    "expected_output",
    "expected_answer",
    "correct_answer",
    "reference_answer",
    "reference",
    "ground_truth",
    "target",
    "label",
)
_EVALS_SAME = {"category", "context"}
_ALPACA = {"instruction": "question", "input": "context", "output": "answer"}


def is_evals_line(item: object) -> bool:
    """Return whether an object of a JSON Lines file is one of OpenAI Evals."""
    return isinstance(item, dict) and ("input" in item or isinstance(item.get("item"), dict))


def is_alpaca(item: object) -> bool:
    """Return whether an object of a JSON file has an instruction and an output, as Alpaca's do."""
    return isinstance(item, dict) and bool(item.get("instruction")) and "output" in item


def import_alpaca(item: Mapping[str, object], where: str) -> Imported:
    """Yield the question of an object of Alpaca: the input is what the instruction refers to."""
    fields = {name: item[key] for key, name in _ALPACA.items() if item.get(key)}
    others = {key: value for key, value in item.items() if key not in _ALPACA}
    return import_evals_line({**others, **fields}, where)


def import_evals_line(item: Mapping[str, object], where: str) -> Imported:
    """Yield the question of a line of OpenAI Evals: `input` and `ideal`, or an `item`."""
    inner = item.get("item")
    fields = inner if isinstance(inner, dict) else item
    if fields is inner:
        yield from (
            LeftOut(where, str(key)[:40], "only the item of a line is imported")
            for key in item
            if key != "item"
        )
    asked = next((name for name in _EVALS_QUESTIONS if fields.get(name)), None)
    if asked is None:
        names = ", ".join(_EVALS_QUESTIONS)
        yield LeftOut(where, "question", f"it has no field with a question: {names}")
        return
    answer = next((name for name in _EVALS_ANSWERS if fields.get(name) is not None), "")
    used = {asked, answer, *_EVALS_SAME}
    for key in fields:
        if key not in used:
            yield LeftOut(where, str(key)[:40], "a suite has no such field")
    given = fields[asked]
    messages = [("user", given)] if isinstance(given, str) else _parse_messages(given)
    if messages is None:
        yield LeftOut(where, asked, "it has more than text, and models get only text")
        return
    try:
        columns = _question_fields(messages)
    except SuiteError as error:
        yield LeftOut(where, asked, str(error))
        return
    own = {name: fields[name] for name in _EVALS_SAME if isinstance(fields.get(name), str)}
    columns |= {name: str(text) for name, text in own.items() if text}
    lost = list[str]()
    try:
        columns |= _ideal_fields(fields[answer]) if answer else {}
    except SuiteError as error:
        yield LeftOut(where, answer, str(error))
        lost.append(answer)
    yield Entry(where, columns, is_imported=True, checks=len(lost), lost=lost)


def _ideal_fields(ideal: object) -> dict[str, str]:
    """Return the columns of a right answer; of several texts, one has to occur as whole words."""
    match ideal:
        case str(text) if text.strip():
            reference = default_reference(text.strip())
            return _reference_fields(reference.grading, reference.value)
        case [str() as only]:
            return _ideal_fields(only)
        case [str(), *_] if all(isinstance(text, str) and text.strip() for text in ideal):
            either = _either(str(text).strip() for text in ideal)
            return _reference_fields(Grading.REGEX, rf"(?<!\w)(?:{either})(?!\w)")
        case bool() | dict() | list():
            return _reference_fields(Grading.JSON, json.dumps(ideal, ensure_ascii=False))
        case int() | float():
            return _ideal_fields(str(ideal))
    raise SuiteError("it is empty")


# --- promptfoo: the nodes of its YAML

_MAX_NODES = 100_000  # with aliases expanded
_MAX_CHARACTERS = 1_000_000  # of all questions, with variables replaced
_JSON_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float")}


def _check_expansion(root: yaml.Node) -> None:
    """Raise SuiteError if aliases multiply to very many nodes, or refer to themselves."""
    stack, seen = [root], 0
    while stack:
        node = stack.pop()
        seen += 1
        if seen > _MAX_NODES:
            raise SuiteError(f"{line_of(node)}: its aliases expand to too much. Remove them.")
        if isinstance(node, yaml.SequenceNode):
            stack.extend(node.value)
        elif isinstance(node, yaml.MappingNode):
            stack.extend(part for pair in node.value for part in pair)


def line_of(node: yaml.Node) -> str:
    """Return the place of a node: "Line 7"."""
    return f"Line {node.start_mark.line + 1}"


def scalar_text(node: yaml.ScalarNode) -> str:
    """Return a scalar as it is written; "" for null."""
    return "" if node.tag == "tag:yaml.org,2002:null" else str(node.value)


def _fields(node: yaml.Node) -> dict[str, yaml.Node]:
    """Return the values of a mapping by their keys, with merge keys (`<<`); none of other nodes."""
    merged: dict[str, yaml.Node] = {}
    own: dict[str, yaml.Node] = {}
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if key.tag == "tag:yaml.org,2002:merge":
            for source in reversed(_items(value)):
                merged |= _fields(source)
        else:
            own[scalar_text(key) if isinstance(key, yaml.ScalarNode) else "?"] = value
    return merged | own


def _items(node: yaml.Node) -> list[yaml.Node]:
    """Return the items of a list; anything else is a list of one."""
    return list(node.value) if isinstance(node, yaml.SequenceNode) else [node]


def _plain(node: yaml.Node) -> object:
    """Return a node as a JSON value."""
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        return {key: _plain(value) for key, value in _fields(node).items()}
    text = scalar_text(node) if isinstance(node, yaml.ScalarNode) else ""
    with suppress(ValueError):
        return json.loads((text or "null").lower()) if node.tag in _JSON_TAGS else text
    return text


# --- promptfoo: prompts and tests

_FILE = re.compile(r"(?:\w+://|exec:)\S*|[^\s{}]+\.(?:txt|md|j2|json|jsonl|ya?ml|csv|js|ts|py)\S*")
_NOT_READ = "it is in another place; copy its text into this file"
_ELSEWHERE = {
    "providers": "the models of a panel answer instead",
    "targets": "the models of a panel answer instead",
    "scenarios": "write them out as tests",
}
_NO_PLACE = "a suite has no such setting"


@dataclass(frozen=True, slots=True)
class _Prompt:
    where: str
    messages: _Messages
    label: str = ""


@dataclass(frozen=True, slots=True)
class _Assertion:
    """A check, or a set of checks in `parts`; `fault` says why it can't be imported.

    The checks of a set must all pass or, with a `threshold`, checks of enough weight.
    """

    where: str
    kind: str
    value: yaml.Node | None = None
    weight: float = 1.0
    fault: str = ""
    parts: Sequence["_Assertion"] = ()
    threshold: float | None = None

    @property
    def checks(self) -> list["_Assertion"]:
        """The checks in it, through all sets."""
        if self.kind != _SET or self.fault:
            return [self]
        return [check for part in self.parts for check in part.checks]

    @property
    def has_threshold(self) -> bool:
        """Whether it or a set in it has a threshold."""
        return self.threshold is not None or any(part.has_threshold for part in self.parts)


@dataclass(frozen=True, slots=True)
class _Test:
    """`asserted` is the set of its checks; `fault` says why it has none that can be imported."""

    where: str
    variables: Mapping[str, Sequence[str]]
    asserted: _Assertion
    category: str = ""
    fault: str = ""


def is_promptfoo(root: yaml.Node) -> bool:
    """Return whether a YAML document is a configuration of promptfoo."""
    keys = [key.value for key, _ in root.value] if isinstance(root, yaml.MappingNode) else []
    return "prompts" in keys or "tests" in keys


def import_promptfoo(root: yaml.Node, limit: int, graders: Collection[str] = ()) -> Imported:
    """Yield a question for each prompt with the variables of each test, and what is left out.

    An assertion's type can also be one of these `graders` of plug-ins. Raise SuiteError for more
    than `limit` questions, or if variables multiply the text.
    """
    _check_expansion(root)
    config, left_out = _fields(root), list[LeftOut]()
    _reject_others(config, {"prompts", "tests", "defaultTest"}, left_out)
    prompts = list(_parse_prompts(config.get("prompts"), left_out))
    tests = _parse_tests(config, left_out, graders)
    yield from left_out
    count = len(prompts) * sum(prod(map(len, test.variables.values())) for test in tests)
    if count > limit:
        raise SuiteError(
            f"Its prompts and tests make {count:,} questions; the limit for a suite is {limit:,}. "
            "Keep those that matter, or split it into several suites."
        )
    characters = 0
    for test, prompt in product(tests, prompts):
        for values in product(*test.variables.values()):
            variables = dict(zip(test.variables, values, strict=True))
            category = test.category or (prompt.label if len(prompts) > 1 else "")
            for made in _make_question(prompt, test, variables, category):
                if isinstance(made, Entry):
                    characters += sum(map(len, made.fields.values()))
                if characters > _MAX_CHARACTERS:
                    raise SuiteError(
                        f"{test.where}: its variables expand to more text than a suite can have. "
                        "Shorten the prompts, or split it into several suites."
                    )
                yield made


def _reject_others(
    fields: Mapping[str, yaml.Node], known: set[str], left_out: list[LeftOut]
) -> None:
    left_out += [
        LeftOut(line_of(node), key[:40], _ELSEWHERE.get(key, _NO_PLACE))
        for key, node in fields.items()
        if key not in known
    ]


def _parse_prompts(node: yaml.Node | None, left_out: list[LeftOut]) -> Iterator[_Prompt]:
    if node is None:
        left_out.append(LeftOut("Line 1", "prompts", "there are none in this file"))
        return
    for item in _items(node):
        where, fields = line_of(item), _fields(item)
        raw = fields.get("raw") if fields else item
        if not isinstance(raw, yaml.ScalarNode):
            left_out.append(LeftOut(where, "prompt", "write its text, or its text under `raw`"))
            continue
        _reject_others(fields, {"raw", "label"}, left_out)
        text, label = scalar_text(raw), fields.get("label")
        if _FILE.fullmatch(text.strip()):
            left_out.append(LeftOut(where, f"prompt {text.strip()[:60]}", _NOT_READ))
            continue
        messages = None
        if text.lstrip().startswith("["):
            with suppress(ValueError, RecursionError):
                messages = _parse_messages(json.loads(text))
        shown = scalar_text(label) if isinstance(label, yaml.ScalarNode) else ""
        yield _Prompt(where, messages or [("user", text)], shown[:60])


def _parse_tests(
    config: Mapping[str, yaml.Node], left_out: list[LeftOut], graders: Collection[str]
) -> list[_Test]:
    default = config.get("defaultTest")
    shared = _Test("", {}, _Assertion("", _SET))
    if default and (parsed := _parse_test(default, shared, "defaultTest", left_out, graders)):
        shared = parsed
    elif default and (
        scalar_text(default) if isinstance(default, yaml.ScalarNode) else default.value
    ):
        unread = _Assertion(line_of(default), "defaultTest", fault=_NOT_READ)
        shared = replace(shared, asserted=replace(shared.asserted, parts=(unread,)))
    listed = config.get("tests")
    if not listed:  # promptfoo asks each prompt once
        return [shared]
    parsed_tests = (_parse_test(node, shared, "test", left_out, graders) for node in _items(listed))
    return [test for test in parsed_tests if test]


def _parse_test(
    node: yaml.Node, shared: _Test, name: str, left_out: list[LeftOut], graders: Collection[str]
) -> _Test | None:
    where, fields = line_of(node), _fields(node)
    if not fields or "path" in fields:
        text = scalar_text(node)[:60] if isinstance(node, yaml.ScalarNode) else ""
        left_out.append(LeftOut(where, f"{name} {text}".strip(), _NOT_READ))
        return None
    _reject_others(fields, {"vars", "assert", "metadata", "threshold"}, left_out)
    category, metadata = shared.category, _fields(fields.get("metadata", yaml.ScalarNode("", "")))
    _reject_others(metadata, {"category"}, left_out)
    if isinstance(given := metadata.get("category"), yaml.ScalarNode):
        category = scalar_text(given)[:60]
    options = {*fields, *(_fields(fields["options"]) if "options" in fields else ())}
    changed = sorted(options & _CHANGES_GRADES)
    fault = f"{changed[0]} changes how answers are graded, and is not followed" if changed else ""
    fault = fault or shared.fault
    variables = {**shared.variables, **_parse_variables(fields.get("vars"), left_out)}
    asserted = _parse_asserted(fields, shared.asserted, left_out, graders)
    asserted = _with_fault(asserted, fault) if fault else asserted
    return _Test(where, variables, asserted, category, fault)


def _parse_variables(
    node: yaml.Node | None, left_out: list[LeftOut]
) -> Mapping[str, Sequence[str]]:
    variables = dict[str, Sequence[str]]()
    if node is not None and not isinstance(node, yaml.MappingNode):
        left_out.append(LeftOut(line_of(node), "vars", _NOT_READ))
    for key, value in _fields(node).items() if node else ():
        texts = [item.value for item in _items(value) if isinstance(item, yaml.ScalarNode)]
        if not texts or len(texts) < len(_items(value)):
            why = "only a text, a number or a list of these can be inserted"
            left_out.append(LeftOut(line_of(value), f"variable {key[:40]}", why))
        elif any(_is_file(text) for text in texts):
            left_out.append(LeftOut(line_of(value), f"variable {key[:40]}", _NOT_READ))
        else:
            variables[key] = texts
    return variables


def _is_file(text: str) -> bool:
    return text.startswith("file://")


# --- promptfoo: templates

_VARIABLE = re.compile(r"\{\{-?\s*([A-Za-z_$][\w$]*)\s*-?\}\}")
_OTHER = re.compile(r"\{\{.{0,40}|\{%.{0,40}|\{#.{0,40}")


def _render(template: str, variables: Mapping[str, str]) -> str:
    """Return a template with its variables; raise SuiteError for what else Nunjucks can do."""
    length = len(template)

    def insert(match: re.Match[str]) -> str:
        nonlocal length
        if match[1] not in variables:
            raise SuiteError(f"the variable {match[1][:40]} has no value")
        value = variables[match[1]]
        length += len(value)
        if length > 2 * MAX_QUESTION_CHARACTERS:  # the exact limit is checked later
            raise SuiteError(f"it has more than {MAX_QUESTION_CHARACTERS:,} characters")
        if _OTHER.search(value):
            raise SuiteError(f"the variable {match[1][:40]} is a template itself")
        return value

    if other := _OTHER.search(_VARIABLE.sub("", template)):
        raise SuiteError(f"only plain variables such as {{{{name}}}} work, not {other[0]!r}")
    return _VARIABLE.sub(insert, template)


def _make_question(
    prompt: _Prompt, test: _Test, variables: Mapping[str, str], category: str
) -> Imported:
    where = test.where or prompt.where
    try:
        messages = [(role, _render(text, variables)) for role, text in prompt.messages]
        columns = {**_question_fields(messages), "category": category}
    except SuiteError as error:
        yield LeftOut(where, "question", f"of the prompt in {prompt.where.lower()}, {error}")
        return
    grader, lost = _make_grader(test, variables)
    yield from lost
    checks, names = len(test.asserted.checks), tuple(one.name for one in lost)
    yield Entry(where, columns | grader, is_imported=True, checks=checks, lost=names)


def _make_grader(test: _Test, variables: Mapping[str, str]) -> tuple[dict[str, str], list[LeftOut]]:
    """Return the columns of one grader for the checks of a test, and the checks it loses."""
    whole: dict[str, str] = {}
    patterns: dict[_Assertion, str] = {}  # by check; of a check about the whole answer, ""
    lost: list[LeftOut] = []
    for check in test.asserted.checks:
        try:
            grader = _grader_of(check, variables)
        except SuiteError as error:
            lost.append(_rejected(check, str(error)))
            continue
        if whole or (patterns and isinstance(grader, dict)):
            lost.append(_rejected(check, "a question has one grader, and an earlier one is used"))
            continue
        if isinstance(grader, str):
            patterns[check] = grader
        else:
            whole, patterns[check] = grader, ""
    try:
        combined = _combine(test.asserted, patterns)
        return whole or _pattern_fields(patterns, combined, variables), lost
    except SuiteError as error:
        return {}, [*lost, *(_rejected(check, str(error)) for check in patterns)]


def _rejected(assertion: _Assertion, why: str) -> LeftOut:
    return LeftOut(assertion.where, f"assert {assertion.kind}".strip(), why)


# --- promptfoo: assertions

_ANSWER_ONLY = "only what an answer says can be graded, by its text or by a rubric"
_WHOLE = {"equals", "is-json", "llm-rubric"}  # about the whole answer
_SET = "assert-set"
_CHANGES_GRADES = {"assertScoringFunction", "disableDefaultAsserts", "postprocess", "transform"}
_NO_SCORE = "judges say right or wrong, without a score for the threshold"
_MAX_WEIGHED = 8  # checks under one threshold
_JOINED = re.compile(r"\\[1-9]|\(\?[A-Za-z]+\)")  # back references and flags of a whole pattern


def _parse_asserted(
    fields: Mapping[str, yaml.Node],
    before: _Assertion,
    left_out: list[LeftOut],
    graders: Collection[str],
) -> _Assertion:
    """Return the set of the assertions of a test or a set, after those that come before."""
    parts = list(before.parts)
    for item in _items(fields["assert"]) if "assert" in fields else ():
        parsed = _parse_assertion(item, left_out, graders)
        if parsed.weight or parsed.kind == _SET:
            parts.append(parsed)
        else:
            left_out.append(_rejected(parsed, "with weight 0 it decides nothing"))
    asserted = replace(before, parts=parts)
    try:
        threshold = _number(fields.get("threshold"))
    except SuiteError as error:
        return _with_fault(asserted, f"its threshold {error}")
    return asserted if threshold is None else replace(asserted, threshold=threshold)


def _with_fault(asserted: _Assertion, fault: str) -> _Assertion:
    return replace(asserted, parts=[replace(check, fault=fault) for check in asserted.checks])


def _parse_assertion(
    item: yaml.Node, left_out: list[LeftOut], graders: Collection[str]
) -> _Assertion:
    where, fields = line_of(item), _fields(item)
    kind_node = fields.get("type")
    if not isinstance(kind_node, yaml.ScalarNode):
        kind = "$ref" if "$ref" in fields else ""
        return _Assertion(where, kind, fault="write its type and value here")
    kind = scalar_text(kind_node)[:60]
    if kind == _SET:
        _reject_others(fields, {"type", "assert", "threshold", "weight"}, left_out)
        return _parse_asserted(fields, _Assertion(where, kind), left_out, graders)
    assertion = _Assertion(where, kind, fields.get("value"))
    try:
        weight = _number(fields.get("weight"))
    except SuiteError as error:
        return replace(assertion, fault=f"its weight {error}")
    assertion = assertion if weight is None else replace(assertion, weight=weight)
    if fault := _fault(assertion, fields, graders):
        return replace(assertion, fault=fault)
    _reject_others(fields, {"type", "value", "weight"}, left_out)
    return assertion


def _number(node: yaml.Node | None) -> float | None:
    """Return a number of at least 0, None for no node; raise SuiteError for anything else."""
    text = scalar_text(node) if isinstance(node, yaml.ScalarNode) else "?" if node else ""
    try:
        number = float(text) if text else None
    except ValueError:
        number = -1.0
    if number is not None and not (isfinite(number) and number >= 0):
        raise SuiteError("is not a number of at least 0")
    return number


def _fault(assertion: _Assertion, fields: Mapping[str, yaml.Node], graders: Collection[str]) -> str:
    """Return why an assertion can't be imported; "" if it can, as far as it is known so far."""
    kind, value = assertion.kind, assertion.value
    if kind.removeprefix("not-") not in _PATTERNS and kind not in {*_WHOLE, *graders}:
        return _ANSWER_ONLY
    if "transform" in fields:
        return "answers are not transformed before grading"
    if kind == "llm-rubric" and "threshold" in fields:
        return _NO_SCORE
    if kind == "is-json":
        return "JSON schemas are not checked" if value is not None else ""
    if value is None:
        return "it has no value"
    is_elsewhere = isinstance(value, yaml.ScalarNode) and _is_file(value.value)
    return _NOT_READ if is_elsewhere else ""


def _grader_of(assertion: _Assertion, variables: Mapping[str, str]) -> dict[str, str] | str:
    """Return the columns of an assertion about the whole answer, or a pattern from its start on."""
    if assertion.fault:
        raise SuiteError(assertion.fault)
    if assertion.kind == "is-json":
        return _reference_fields(Grading.JSON, ANY_JSON)
    values = [_render(text, variables) for text in _value_texts(assertion)]
    if assertion.kind == "equals":
        is_text = isinstance(assertion.value, yaml.ScalarNode)
        return _reference_fields(Grading.EXACT if is_text else Grading.JSON, values[0])
    kind = assertion.kind.removeprefix("not-")
    if not all(values):
        raise SuiteError("its value is empty")
    if kind == "llm-rubric":
        check_reference(Reference(Grading.JUDGE, values[0]))
        return {"rubric": values[0]}
    if kind not in _PATTERNS:  # a plug-in's, which is checked with the whole question
        return {"answer": values[0], "grading": assertion.kind}
    if kind == "regex":
        check_reference(Reference(Grading.REGEX, values[0]))
    look = "?=" if kind == assertion.kind else "?!"
    return _PATTERNS[kind](look, values)


def _value_texts(assertion: _Assertion) -> Sequence[str]:
    node, is_list = assertion.value, assertion.kind.endswith(("-any", "-all"))
    if isinstance(node, yaml.ScalarNode):
        text = scalar_text(node)
        return [part.strip() for part in text.split(",")] if is_list else [text]
    if node is None or assertion.kind == "equals":
        return [json.dumps(_plain(node), ensure_ascii=False)] if node else []
    texts = [item.value for item in _items(node) if isinstance(item, yaml.ScalarNode)]
    if not texts or len(texts) < len(_items(node)) or not is_list:
        raise SuiteError("its value is no text" + (", and no list of texts" if is_list else ""))
    return texts


def _escape(text: str) -> str:
    return str(regex.escape(text, special_only=True, literal_spaces=True))


def _either(values: Iterable[str]) -> str:
    return "|".join(map(_escape, values))


_ANYWHERE = r"[\s\S]*?"
_PATTERNS: Mapping[str, Callable[[str, Sequence[str]], str]] = {
    "contains": lambda look, v: f"({look}{_ANYWHERE}{_escape(v[0])})",
    "icontains": lambda look, v: f"({look}{_ANYWHERE}(?i:{_escape(v[0])}))",
    "contains-any": lambda look, v: f"({look}{_ANYWHERE}(?:{_either(v)}))",
    "icontains-any": lambda look, v: f"({look}{_ANYWHERE}(?i:{_either(v)}))",
    "contains-all": lambda look, v: _all(look, v, ""),
    "icontains-all": lambda look, v: _all(look, v, "i"),
    "starts-with": lambda look, v: f"({look}{_escape(v[0])})",
    "regex": lambda look, v: f"({look}{_ANYWHERE}(?:{v[0]}))",
}


def _all(look: str, values: Sequence[str], flags: str) -> str:
    every = "".join(f"(?={_ANYWHERE}(?{flags}:{_escape(value)}))" for value in values)
    return every if look == "?=" else f"(?!{every})"


def _combine(asserted: _Assertion, patterns: Mapping[_Assertion, str]) -> str | None:
    """Return one pattern for the checks that have one; None if none has.

    Raise SuiteError for a threshold that this can't express.
    """
    if asserted.kind != _SET:
        return patterns.get(asserted)
    found = [(part, _combine(part, patterns)) for part in asserted.parts]
    parts = [(part.weight, pattern) for part, pattern in found if pattern is not None]
    if not parts:
        return None
    if asserted.has_threshold and any(part.kind == "llm-rubric" for part in patterns):
        raise SuiteError(_NO_SCORE)
    if asserted.threshold is None:
        return "".join(pattern for _, pattern in parts)
    if any(part.kind == _SET for part in asserted.parts):
        raise SuiteError("a set of checks has no score here for the threshold of the test")
    return _enough(parts, asserted.threshold)


def _enough(parts: Sequence[tuple[float, str]], threshold: float) -> str:
    """Return a pattern that matches where patterns of enough weight do, by their weighted mean."""
    if threshold == 0:
        raise SuiteError("with a threshold of 0, every answer would pass")
    if len(parts) > _MAX_WEIGHED:
        raise SuiteError(f"only {_MAX_WEIGHED} checks can have a threshold together")
    total = sum(weight for weight, _ in parts)
    choices = (chosen for n in range(len(parts)) for chosen in combinations(parts, n + 1))
    alternatives = [
        "".join(pattern for _, pattern in chosen)
        for chosen in choices
        for weights in [sorted(weight for weight, _ in chosen)]
        if sum(weights) / total >= threshold > sum(weights[1:]) / total  # not one too many
    ]
    if not alternatives:
        raise SuiteError("no answer could reach the threshold")
    return alternatives[0] if len(alternatives) == 1 else f"(?:{'|'.join(alternatives)})"


def _pattern_fields(
    patterns: Mapping[_Assertion, str], combined: str | None, variables: Mapping[str, str]
) -> dict[str, str]:
    """Return the columns of one grader for all patterns; raise SuiteError if there is none."""
    if combined is None:
        return {}
    if len(patterns) == 1:
        [assertion] = patterns
        values = [_render(text, variables) for text in _value_texts(assertion)]
        if assertion.kind == "contains":
            return _reference_fields(Grading.CONTAINS, values[0])
        if assertion.kind == "regex":
            return _reference_fields(Grading.REGEX, values[0])
        if assertion.kind in {"icontains", "icontains-any", "contains-any"}:
            flag = "(?i)" if assertion.kind.startswith("i") else ""
            return _reference_fields(Grading.REGEX, flag + _either(values))
    for assertion, pattern in patterns.items():
        if assertion.kind.endswith("regex") and _JOINED.search(pattern.partition(_ANYWHERE)[2]):
            raise SuiteError("a pattern with flags or back references can't be combined")
    return _reference_fields(Grading.REGEX, rf"\A{combined}")
