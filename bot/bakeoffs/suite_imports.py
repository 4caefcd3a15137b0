"""Importer of promptfoo's configurations and tests (YAML, JSON, CSV), with the files beside them.

What a suite cannot have is returned as LeftOut, with its place in the file; nothing is dropped.
Settings without meaning here, such as providers, are ignored.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from math import isfinite, prod
from pathlib import PurePath

import regex
import yaml

from bot.bakeoffs.column_mapper import ASKED, ColumnMapper, Entry, Imported, LeftOut, Unneeded
from bot.bakeoffs.file_parsers import (
    MAX_BYTES,
    NearbyFiles,
    check_expansion,
    check_header,
    compose_json,
    compose_yaml,
    line_of,
    load_json,
    mark_at,
    node_fields,
    node_items,
    node_of,
    numbered_lines,
    plain_value,
    read_rows,
    row_fields,
    scalar_text,
)
from bot.bakeoffs.item_values import Messages, context_of, parse_messages, reference_fields
from bot.chat import MAX_QUESTION_CHARACTERS
from council.bakeoffs.graders import ANY_JSON, check_reference
from council.bakeoffs.models import Grading, Reference
from council.errors import SuiteError

# Settings by where they stand: those that are imported, and those without meaning here. Others
# are left out by name, since they change what is asked or how it is graded.
_KNOWN = {
    "config": {"prompts", "tests", "scenarios", "defaultTest", "assertionTemplates"},
    "test": {"vars", "assert", "metadata", "threshold", "options"},
    "options": set[str](),
    "scenario": {"config", "tests"},
    "prompt": {"raw", "id", "label"},
    "assertion": {"type", "value", "weight"},
    "set": {"type", "assert", "threshold", "weight"},
}
_MEANINGLESS_NAMES = """
    $schema commandLineOptions config derivedMetrics description display env evaluateOptions
    metadata metric nunjucksFilters outputPath provider providers repeat runSerially sharing tags
    targets writeLatestResults"""
_MEANINGLESS = {*_MEANINGLESS_NAMES.split()}
_MAX_EXPANDED = MAX_BYTES  # characters of all questions, with variables replaced
_FILE = re.compile(r"(?:\w+://|exec:)\S*|[^\s{}]+\.(?:txt|md|j2|json|jsonl|ya?ml|csv|js|ts|py)\S*")
_NO_PLACE = "a suite has no such setting"
_NOT_TEXT = "only files of text, CSV, YAML and JSON are read, and no program is run"


@dataclass(frozen=True, slots=True)
class _Prompt:
    where: str
    messages: Messages
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

    @property
    def count(self) -> int:
        """How often each prompt is asked: once for each combination of values."""
        return prod(map(len, self.variables.values()))

    @property
    def work(self) -> int:
        """How much there is to do for one question."""
        checks = self.asserted.checks
        patterns = sum(check.kind.endswith("regex") for check in checks)
        return len(checks) + len(self.variables) + patterns * _PATTERN_WORK


_ANSWER_ONLY = "only what an answer says can be graded, by its text or by a rubric"
_RUBRICS = {
    "llm-rubric": "{}",
    "model-graded-closedqa": "{}",
    "factuality": "Agrees with the facts of this reference answer:\n{}",
    "model-graded-factuality": "Agrees with the facts of this reference answer:\n{}",
}
_WHOLE = {"equals", "is-json", *_RUBRICS}  # about the whole answer
_SET = "assert-set"
_CHANGES_GRADES = {
    "assertScoringFunction",
    "disableDefaultAsserts",
    "postprocess",
    "transform",
    "rubricPrompt",
}
_CHANGES_QUESTIONS = {"disableVarExpansion", "prefix", "suffix", "transformVars"}
_NO_SCORE = "judges say right or wrong, without a score for the threshold"
_MAX_CHECKS = 40  # of a question; more make no pattern that is short enough
_MAX_WORK = 200_000  # checks and variables of all questions
_PATTERN_WORK = 50  # checks that take as long as a regular expression
_MAX_WEIGHED = 8  # checks under one threshold
_JOINED = re.compile(r"\\[1-9]|\(\?[A-Za-z]+\)")  # back references and flags of a whole pattern
_NO_TEST = _Test("", {}, _Assertion("", _SET))


def _with_fault(asserted: _Assertion, fault: str) -> _Assertion:
    return replace(asserted, parts=[replace(check, fault=fault) for check in asserted.checks])


def _fault_of(setting: str) -> str:
    changed = "what is asked" if setting in _CHANGES_QUESTIONS else "how answers are graded"
    return f"{setting} changes {changed}, and is not followed"


def is_promptfoo(names: Collection[str]) -> bool:
    """Return whether a document with these keys is a configuration of promptfoo."""
    return "prompts" in names or "tests" in names or "scenarios" in names


def is_test(names: Collection[str]) -> bool:
    """Return whether an object with these keys is a test of promptfoo."""
    return "vars" in names and not is_promptfoo(names)


def test_of_row(row: Mapping[str, str], mark: yaml.Mark) -> yaml.Node:
    """Return a row of promptfoo's CSV as a test: variables, checks, threshold and metadata."""
    test: dict[str, object] = {"vars": {}, "assert": [], "metadata": {}}
    groups = {name: one for name, one in test.items() if isinstance(one, dict)}
    checks: list[object] = []
    for name, cell in row.items():
        key = name.strip()
        if re.fullmatch(r"__expected\d*", key):
            checks += [_parse_expected(cell)] if cell.strip() else []
        elif key.startswith("__metadata:"):
            groups["metadata"][key.removeprefix("__metadata:")] = cell
        elif key == "__threshold":
            test |= {"threshold": cell} if cell.strip() else {}
        elif key.startswith("__config:") and cell.strip():
            checks.append({"type": key})
        elif key in {"__prefix", "__suffix"} and cell.strip():
            test["options"] = {key.strip("_"): cell}
        elif not key.startswith("__"):
            groups["vars"][name] = cell
    return node_of({**test, "assert": checks}, mark)


_KIND = re.compile(r"\s*((?:not-)?[a-z]+(?:-[a-z]+)*)(?:\(([\d.]+)\))?(?::([\s\S]*))?")
_ALIASES = {"grade": "llm-rubric", "fn": "javascript", "eval": "javascript"}
# Types of checks that a suite has no grader for; any other word is a text that is expected.
_UNGRADED_TYPES = """
    answer-relevance bleu classifier contains-html contains-json contains-sql contains-xml
    context-faithfulness context-recall context-relevance conversation-relevance cost finish-reason
    g-eval gleu guardrails is-html is-refusal is-sql is-valid-function-call
    is-valid-openai-function-call is-valid-openai-tools-call is-xml javascript latency levenshtein
    max-score meteor moderation perplexity perplexity-score pi python rouge-n ruby search-rubric
    select-best similar webhook word-count"""
_UNGRADED = {*_UNGRADED_TYPES.split()}


def _parse_expected(text: str) -> dict[str, object]:
    """Return the check that a cell `__expected` stands for: "contains: Paris", or just "Paris"."""
    match = _KIND.fullmatch(text)
    kind = _ALIASES.get(match[1], match[1]) if match else ""
    if match is None or kind.removeprefix("not-") not in {*_PATTERNS, *_WHOLE, *_UNGRADED}:
        kind = "python" if text.strip().startswith("file://") else "equals"
        return {"type": kind, "value": text.strip()}
    value = {"value": match[3].strip()} if match[3] else {}
    return {"type": kind, **value, **({"threshold": match[2]} if match[2] else {})}


@dataclass(slots=True)
class PromptfooImporter:
    """Imports one configuration, or tests without one, and collects what is left out.

    A check's type can also be one of these `graders` of plug-ins. `mapper` finds the question in
    the variables of tests without prompts.
    """

    limit: int
    graders: Collection[str]
    files: NearbyFiles
    mapper: ColumnMapper
    left_out: list[LeftOut] = field(default_factory=list)
    templates: Mapping[str, yaml.Node] = field(default_factory=dict)
    _loaded: dict[tuple[str, bool], yaml.Node] = field(default_factory=dict)
    _work: int = 0

    def import_config(self, root: yaml.Node) -> Imported:
        """Yield a question for each prompt with the variables of each test, and what is left out.

        Raise SuiteError for more than `limit` questions, or if variables multiply the text.
        """
        config = node_fields(root)
        self._reject_others("config", config)
        self.templates = node_fields(config.get("assertionTemplates"))
        prompts = list(self._parse_prompts(config.get("prompts")))
        tests = self._parse_tests(config)
        yield from self.left_out
        self._check_count(len(prompts) * sum(test.count for test in tests))
        self._check_work(tests, len(prompts))
        characters = 0
        for test, prompt in product(tests, prompts):
            for values in product(*test.variables.values()):
                variables = dict(zip(test.variables, values, strict=True))
                category = test.category or (prompt.label if len(prompts) > 1 else "")
                for made in _make_question(prompt, test, variables, category):
                    if isinstance(made, Entry):
                        characters += sum(map(len, made.fields.values()))
                    if characters > _MAX_EXPANDED:
                        raise SuiteError(
                            f"{test.where}: its variables expand to more text than a suite can "
                            "have. Shorten the prompts, or split it into several suites."
                        )
                    yield made

    def import_test(self, node: yaml.Node) -> Imported:
        """Yield the question of a test without prompts, which is one of its variables."""
        test = self._parse_test(node, _NO_TEST, "test")
        yield from self.left_out
        self.left_out.clear()
        if test is None:
            return
        self._check_count(test.count)
        self._check_work([test], 1)
        for values in product(*test.variables.values()):
            variables = dict(zip(test.variables, values, strict=True))
            for made in self.mapper.map_item({"category": test.category, **variables}, test.where):
                if isinstance(made, Entry):
                    yield from _add_grader(made, test, variables)
                else:
                    yield made

    def _check_count(self, count: int) -> None:
        if count > self.limit:
            raise SuiteError(
                f"Its prompts and tests make {count:,} questions; the limit for a suite is "
                f"{self.limit:,}. Keep those that matter, or split it into several suites."
            )

    def _check_work(self, tests: Iterable[_Test], prompts: int) -> None:
        self._work += prompts * sum(test.count * test.work for test in tests)
        if self._work > _MAX_WORK:
            raise SuiteError(
                f"Its questions have more than {_MAX_WORK:,} checks and variables in all, where a "
                f"regular expression is {_PATTERN_WORK}. Split it into several suites."
            )

    def _reject_others(self, place: str, fields: Mapping[str, yaml.Node]) -> None:
        for key, node in fields.items():
            is_empty = isinstance(node, yaml.ScalarNode) and not scalar_text(node)
            if key not in _KNOWN[place] | _MEANINGLESS and not is_empty:
                is_lost = key in _CHANGES_QUESTIONS or key == "prompts"
                make = LeftOut if is_lost else Unneeded
                self.left_out.append(make(line_of(node), key[:40], _NO_PLACE))

    def _follow(self, node: yaml.Node, name: str, *, is_text: bool = False) -> yaml.Node | None:
        """Return what a node refers to in another file; itself if it does not; None if unread."""
        if not isinstance(node, yaml.ScalarNode) or not _FILE.fullmatch(scalar_text(node).strip()):
            return node
        address = scalar_text(node).strip()
        try:
            return self._load(address, is_text=is_text)
        except SuiteError as error:
            self.left_out.append(LeftOut(line_of(node), f"{name} {address[:60]}", str(error)))
            return None

    def _load(self, address: str, *, is_text: bool = False) -> yaml.Node:
        """Return a file beside this one as a node; raise SuiteError if it can't be read."""
        path = address.removeprefix("file://")
        suffix = PurePath(path).suffix.lower()
        if "://" in path or suffix not in {"", ".txt", ".md", ".j2", *_LOADERS}:
            raise SuiteError(_NOT_TEXT)
        if "*" in path:
            raise SuiteError("it is a pattern; name each file")
        if (path, is_text) not in self._loaded:
            load = _load_text if is_text else _LOADERS.get(suffix, _load_text)
            self._loaded[path, is_text] = load(self.files.read(path), path)
        return self._loaded[path, is_text]

    def _parse_prompts(self, node: yaml.Node | None) -> Iterator[_Prompt]:
        if node is None:
            self.left_out.append(LeftOut("Line 1", "prompts", "there are none in this file"))
        count = 0
        for item in node_items(node):
            fields = node_fields(item)
            raw = fields.get("raw", fields.get("id")) if fields else item
            if not isinstance(raw, yaml.ScalarNode):
                why = "write its text, or its text under `raw`"
                self.left_out.append(LeftOut(line_of(item), "prompt", why))
                continue
            self._reject_others("prompt", fields)
            label = fields.get("label")
            shown = scalar_text(label)[:60] if isinstance(label, yaml.ScalarNode) else ""
            found = self._follow(raw, "prompt")
            if isinstance(found, yaml.ScalarNode):
                whole = scalar_text(found)
                is_parted = found is not raw and scalar_text(raw).strip().endswith(".txt")
                texts = re.split(r"\n---\s*\n", whole) if is_parted else [whole]
                count += len(texts)
                self._check_count(count)
                chats = [_parse_chat(text) for text in texts]
            else:
                chats = [parse_messages(plain_value(found, as_text=True))] if found else []
            for messages in chats:
                if messages is None or messages[-1][0] != "user":
                    why = "it is no chat of texts that ends with a question"
                    self.left_out.append(LeftOut(line_of(item), "prompt", why))
                else:
                    yield _Prompt(line_of(item), messages, shown)

    def _parse_tests(self, config: Mapping[str, yaml.Node]) -> list[_Test]:
        providers = node_items(config.get("providers")) + node_items(config.get("targets"))
        places = [one for node in providers for one in (node, *node_fields(node).values())]
        is_changed = any("transform" in node_fields(one) for one in places)
        shared = replace(_NO_TEST, fault=_fault_of("transform") if is_changed else "")
        if default := config.get("defaultTest"):
            has_text = isinstance(default, yaml.ScalarNode) and scalar_text(default)
            if parsed := self._parse_test(default, shared, "defaultTest"):
                shared = replace(parsed, where="")
            elif has_text or (default.value and not isinstance(default, yaml.ScalarNode)):
                unread = _Assertion(line_of(default), "defaultTest", fault="it can't be read")
                shared = replace(shared, asserted=replace(shared.asserted, parts=(unread,)))
        nodes = [(node, shared) for node in self._listed(config.get("tests"))]
        for node in self._listed(config.get("scenarios")):
            scenario = node_fields(node)
            self._reject_others("scenario", scenario)
            if not {"config", "tests"} <= scenario.keys():
                why = "it has no config and tests in this file"
                self.left_out.append(LeftOut(line_of(node), "scenario", why))
            given = self._listed(scenario.get("config"))
            bases = [self._parse_test(one, shared, "scenario") for one in given]
            tests = [*self._listed(scenario.get("tests"))]
            self._check_count(len(nodes) + len(bases) * len(tests))
            nodes += [(node, base) for base in bases if base for node in tests]
        if not config.keys() & {"tests", "scenarios"}:  # promptfoo asks each prompt once
            return [shared]
        parsed_tests = (self._parse_test(node, base, "test") for node, base in nodes)
        return [test for test in parsed_tests if test]

    def _listed(self, node: yaml.Node | None) -> Iterator[yaml.Node]:
        """Yield the tests in a list, also those in other files."""
        count = 0
        for item in node_items(node):
            found = node_items(self._follow(item, "test"))
            count += len(found)
            self._check_count(count)
            yield from found

    def _parse_test(self, item: yaml.Node, shared: _Test, name: str) -> _Test | None:
        node = self._follow(item, name) if name != "test" else item
        fields = node_fields(node)
        if not fields or "path" in fields:
            if node is not None:
                why = f"it is no test; {_NOT_TEXT}"
                self.left_out.append(LeftOut(line_of(node), name, why))
            return None
        self._reject_others("test", fields)
        metadata = node_fields(fields.get("metadata")).get("category")
        category = scalar_text(metadata)[:60] if isinstance(metadata, yaml.ScalarNode) else ""
        options = node_fields(fields.get("options"))
        changed = sorted({*fields, *options} & (_CHANGES_GRADES | _CHANGES_QUESTIONS))
        unknown = {key: one for key, one in options.items() if key not in _CHANGES_GRADES}
        self._reject_others("options", unknown)
        fault = _fault_of(changed[0]) if changed else shared.fault
        variables = {**shared.variables, **self._parse_variables(fields.get("vars"))}
        asserted = self._parse_asserted(fields, shared.asserted)
        if not fault and len(asserted.checks) > _MAX_CHECKS:
            fault = f"only {_MAX_CHECKS} checks can decide about a question together"
        asserted = _with_fault(asserted, fault) if fault else asserted
        return _Test(line_of(item), variables, asserted, category or shared.category, fault)

    def _parse_variables(self, given: yaml.Node | None) -> Mapping[str, Sequence[str]]:
        node = self._follow(given, "vars") if given else None
        variables = dict[str, Sequence[str]]()
        if node is not None and not isinstance(node, yaml.MappingNode):
            self.left_out.append(LeftOut(line_of(node), "vars", "they are no mapping"))
        for key, value in node_fields(node).items():
            items = [self._follow_variable(one, key[:40]) for one in node_items(value)]
            texts = [scalar_text(one) for one in items if isinstance(one, yaml.ScalarNode)]
            if texts and len(texts) == len(items):
                variables[key] = texts
            elif None not in items:
                why = "only a text, a number or a list of these can be inserted"
                self.left_out.append(LeftOut(line_of(value), f"variable {key[:40]}", why))
        return variables

    def _follow_variable(self, node: yaml.Node, name: str) -> yaml.Node | None:
        is_file = isinstance(node, yaml.ScalarNode) and scalar_text(node).startswith("file://")
        return self._follow(node, f"variable {name}", is_text=True) if is_file else node

    def _parse_asserted(self, fields: Mapping[str, yaml.Node], before: _Assertion) -> _Assertion:
        """Return the set of the assertions of a test or a set, after those that come before."""
        parts = list(before.parts)
        for item in node_items(fields.get("assert")):
            parsed = self._parse_assertion(item)
            if parsed.weight or parsed.kind == _SET:
                parts.append(parsed)
            else:
                self.left_out.append(_rejected(parsed, "with weight 0 it decides nothing"))
        asserted = replace(before, parts=parts)
        try:
            threshold = _number(fields.get("threshold"))
        except SuiteError as error:
            return _with_fault(asserted, f"its threshold {error}")
        return asserted if threshold is None else replace(asserted, threshold=threshold)

    def _parse_assertion(self, item: yaml.Node) -> _Assertion:
        where, fields = line_of(item), node_fields(item)
        if isinstance(reference := fields.get("$ref"), yaml.ScalarNode):
            template = self.templates.get(scalar_text(reference).rpartition("/")[2])
            fields = {**node_fields(template), **fields} if template else fields
            fields = {key: one for key, one in fields.items() if key != "$ref" or not template}
        kind_node = fields.get("type")
        if not isinstance(kind_node, yaml.ScalarNode):
            kind = "$ref" if "$ref" in fields else ""
            return _Assertion(where, kind, fault="write its type and value here")
        kind = scalar_text(kind_node)[:60]
        if kind == _SET:
            self._reject_others("set", fields)
            return self._parse_asserted(fields, _Assertion(where, kind))
        assertion = _Assertion(where, kind, fields.get("value"))
        try:
            weight = _number(fields.get("weight"))
            assertion = assertion if weight is None else replace(assertion, weight=weight)
        except SuiteError as error:
            return replace(assertion, fault=f"its weight {error}")
        if fault := _fault(assertion, fields, self.graders):
            return replace(assertion, fault=fault)
        value = assertion.value
        if isinstance(value, yaml.ScalarNode) and scalar_text(value).startswith("file://"):
            try:
                is_text = kind != "equals" and not kind.endswith(("-any", "-all"))
                assertion = replace(
                    assertion, value=self._load(scalar_text(value), is_text=is_text)
                )
            except SuiteError as error:
                return replace(assertion, fault=str(error))
        self._reject_others("assertion", fields)
        return assertion


def _load_text(text: str, path: str) -> yaml.Node:
    return yaml.ScalarNode("tag:yaml.org,2002:str", text.strip(), mark_at(1, path))


def _load_lines(text: str, path: str) -> yaml.Node:
    tests = [
        node_of(load_json(line, number), mark_at(number, path))
        for number, line in numbered_lines(text)
    ]
    return yaml.SequenceNode("tag:yaml.org,2002:seq", tests, mark_at(1, path))


def _load_csv(text: str, path: str) -> yaml.Node:
    (first, header), *rows = [*read_rows(text)] or [(1, [])]
    check_header(header, f"Line {first}")
    tests = [
        test_of_row(row_fields(header, row, f"Line {line}"), mark_at(line, path))
        for line, row in rows
    ]
    return yaml.SequenceNode("tag:yaml.org,2002:seq", tests, mark_at(1, path))


def _load_yaml(text: str, path: str) -> yaml.Node:
    root = (compose_json if path.endswith(".json") else compose_yaml)(text, path)
    if root is None:
        raise SuiteError("it is empty")
    check_expansion(root)
    return root


_LOADERS: Mapping[str, Callable[[str, str], yaml.Node]] = {
    ".csv": _load_csv,
    ".jsonl": _load_lines,
    ".json": _load_yaml,
    ".yaml": _load_yaml,
    ".yml": _load_yaml,
}


def _parse_chat(text: str) -> Messages | None:
    """Return the messages of a prompt, which can be a chat in JSON or YAML; None for a bad one."""
    start, chat = text.lstrip(), None
    with suppress(ValueError, RecursionError, SuiteError):
        if start.startswith("["):
            chat = json.loads(text)
        elif start.startswith("- role:"):
            chat = plain_value(_load_yaml(text, ""), as_text=True)
    is_chat = isinstance(chat, list) and all(isinstance(x, dict) and "role" in x for x in chat)
    return parse_messages(chat) if is_chat else [("user", text)]


# --- Templates

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
    except SuiteError as error:
        yield LeftOut(where, "question", f"of the prompt in {prompt.where.lower()}, {error}")
        return
    asked = {"question": messages[-1][1], "context": context_of(messages), "category": category}
    grader, lost = _make_grader(test, variables)
    yield from lost
    yield _make_entry(replace(test, where=where), asked | grader, lost)


def _add_grader(asked: Entry, test: _Test, variables: Mapping[str, str]) -> Imported:
    """Yield a question that is a variable itself, with the grader of a test, if that has checks."""
    if _OTHER.search(asked.fields["question"]):
        yield LeftOut(test.where, "question", "it is a template")
    elif test.asserted.checks:
        grader, lost = _make_grader(test, variables)
        yield from lost
        columns = {name: asked.fields.get(name, "") for name in ASKED}
        yield _make_entry(test, columns | grader, lost)
    else:
        yield asked._replace(is_imported=True)


def _make_entry(test: _Test, columns: Mapping[str, str], lost: Sequence[LeftOut]) -> Entry:
    checks, names = len(test.asserted.checks), tuple(one.name for one in lost)
    return Entry(test.where, columns, is_imported=True, checks=checks, lost=names)


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


# --- Assertions


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
    if changed := sorted(_CHANGES_GRADES & fields.keys()):
        return _fault_of(changed[0])
    if kind in _RUBRICS and "threshold" in fields:
        return _NO_SCORE
    if kind == "is-json":
        return "JSON schemas are not checked" if value is not None else ""
    return "it has no value" if value is None else ""


def _grader_of(assertion: _Assertion, variables: Mapping[str, str]) -> dict[str, str] | str:
    """Return the columns of an assertion about the whole answer, or a pattern from its start on."""
    if assertion.fault:
        raise SuiteError(assertion.fault)
    if assertion.kind == "is-json":
        return reference_fields(Grading.JSON, ANY_JSON)
    values = [_render(text, variables) for text in _value_texts(assertion)]
    if assertion.kind == "equals":
        is_text = isinstance(assertion.value, yaml.ScalarNode)
        return reference_fields(Grading.EXACT if is_text else Grading.JSON, values[0])
    kind = assertion.kind.removeprefix("not-")
    if not all(values):
        raise SuiteError("its value is empty")
    if kind in _RUBRICS:
        rubric = _RUBRICS[kind].format(values[0])
        check_reference(Reference(Grading.JUDGE, rubric))
        return {"rubric": rubric}
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
        if is_list and '"' in text:
            raise SuiteError("its list has quotes; write each text after “- ”")
        return [part.strip() for part in text.split(",")] if is_list else [text]
    if node is None or assertion.kind == "equals":
        return [json.dumps(plain_value(node), ensure_ascii=False)] if node else []
    texts = [item.value for item in node_items(node) if isinstance(item, yaml.ScalarNode)]
    if not texts or len(texts) < len(node_items(node)) or not is_list:
        raise SuiteError("its value is no text" + (", and no list of texts" if is_list else ""))
    if any(text.startswith("file://") for text in texts):
        raise SuiteError("a file in a list is not read; write its text here")
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
    if asserted.has_threshold and any(part.kind in _RUBRICS for part in patterns):
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
            return reference_fields(Grading.CONTAINS, values[0])
        if assertion.kind == "regex":
            return reference_fields(Grading.REGEX, values[0])
        if assertion.kind in {"icontains", "icontains-any", "contains-any"}:
            flag = "(?i)" if assertion.kind.startswith("i") else ""
            return reference_fields(Grading.REGEX, flag + _either(values))
    for assertion, pattern in patterns.items():
        if assertion.kind.endswith("regex") and _JOINED.search(pattern.partition(_ANYWHERE)[2]):
            raise SuiteError("a pattern with flags or back references can't be combined")
    return reference_fields(Grading.REGEX, rf"\A{combined}")
