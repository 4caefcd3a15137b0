"""Answers that must be JSON of a given shape: the JSON Schema is checked, and so is the answer.

A schema is written by the asker and an answer by a model, so both have limits: of size, of the
steps that checking may take, and of the time that a pattern may. Nothing is fetched.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from json import JSONDecodeError
from time import monotonic
from typing import Any

import regex
from jsonschema import Draft202012Validator, FormatChecker, SchemaError, ValidationError
from jsonschema.validators import extend
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012, SchemaRegistry

from council.errors import AnswerSchemaError

ANY_OBJECT = '{"type": "object"}'
MAX_SCHEMA_CHARACTERS = 50_000
MAX_PATTERN_CHARACTERS = 500
_MAX_STEPS = 100_000  # of keywords that are checked
_PATTERN_SECONDS = 0.5  # of all patterns together
MAX_ANSWER_CHARACTERS = 500_000
_MAX_FAULT = 300
_REFUSED = ("patternProperties", "$dynamicRef", "unevaluatedProperties", "unevaluatedItems")
_TOO_DEEP = "The schema is nested too deeply, or refers to itself without an end."
_NOTHING: SchemaRegistry = SchemaRegistry()


def check_schema(schema: object) -> str:
    """Return a JSON Schema as it is stored with a question; raise AnswerSchemaError."""
    if not isinstance(schema, dict):
        raise AnswerSchemaError("The schema must be a JSON object.")
    try:
        text = json.dumps(schema, ensure_ascii=False)
    except RecursionError:
        raise AnswerSchemaError(_TOO_DEEP) from None
    if len(text) > MAX_SCHEMA_CHARACTERS:
        raise AnswerSchemaError(
            f"The schema has {len(text):,} characters; the limit is {MAX_SCHEMA_CHARACTERS:,}."
        )
    try:
        _check_keywords(schema)
        # Without formats: patterns are checked already, and not as Python's own.
        Draft202012Validator.check_schema(schema, format_checker=FormatChecker(()))
        _find_fault(None, schema)  # a reference that leads nowhere, or in circles
    except SchemaError as error:
        where = "/".join(map(str, error.absolute_path))
        what = f"The schema is invalid{f' at {where}' if where else ''}: {error.message}"
        raise AnswerSchemaError(what[:_MAX_FAULT]) from None
    except RecursionError:
        raise AnswerSchemaError(_TOO_DEEP) from None
    except Unresolvable as error:
        ref = str(error.ref)[:100]
        raise AnswerSchemaError(
            f"The schema refers to {ref!r}, which is not in it. Nothing is fetched."
        ) from None
    return text


def find_answer_fault(text: str, schema: str) -> str:
    """Return why an answer does not fit a schema of `check_schema`; "" if it does.

    `text` may have one Markdown fence around it.
    """
    if len(text) > MAX_ANSWER_CHARACTERS:
        return f"it has more than {MAX_ANSWER_CHARACTERS:,} characters"
    try:
        value = json.loads(unfenced(text), parse_constant=_refuse_constant)
        return _find_fault(value, json.loads(schema))
    except JSONDecodeError as error:
        return f"it is not JSON: {error.msg} at character {error.pos}"
    except TimeoutError:
        return "its patterns take too long to check"
    except (ValueError, RecursionError):
        return "it is not JSON that can be checked"
    except Unresolvable as error:
        return f"its schema refers to {str(error.ref)[:100]!r}, which is not in it"


def unfenced(text: str) -> str:
    """Return an answer without the one Markdown fence around all of it."""
    found = regex.fullmatch(r"\s*(`{3,9}|~{3,9})\w{0,9}[ \t]*\n(.*?)\n?\1\s*", text, regex.DOTALL)
    return (found[2] if found else text).strip()


def _refuse_constant(name: str) -> None:
    raise ValueError(name)  # NaN and Infinity are Python's, not JSON's


def _check_keywords(schema: dict[str, Any]) -> None:
    """Raise AnswerSchemaError for keywords and patterns that cannot be checked, or cost too much.

    Raise Unresolvable for a reference that leads nowhere.
    """
    resolver = _NOTHING.with_resource("", DRAFT202012.create_resource(schema)).resolver()
    waiting: list[object] = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        elif isinstance(one, Mapping):
            waiting += one.values()
            for name in _REFUSED:
                if isinstance(one.get(name), dict | bool | str):
                    raise AnswerSchemaError(f"The council can't check {name}. Leave it out.")
            pattern, ref = one.get("pattern"), one.get("$ref")
            if isinstance(pattern, str):
                _check_pattern(pattern)
            if isinstance(ref, str):
                resolver.lookup(ref)


def _check_pattern(pattern: str) -> None:
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        raise AnswerSchemaError(f"A pattern has at most {MAX_PATTERN_CHARACTERS} characters.")
    try:
        regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError) as error:
        raise AnswerSchemaError(f"The pattern {pattern[:50]!r} is invalid: {error}.") from None


_Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


def _find_fault(value: object, schema: Mapping[str, Any]) -> str:
    steps = iter(range(_MAX_STEPS))
    until = monotonic() + _PATTERN_SECONDS

    def pattern(_: Any, wanted: str, one: object, __: Any) -> Iterator[ValidationError]:  # noqa: ANN401
        left = max(until - monotonic(), 0.001)
        if isinstance(one, str) and not regex.search(wanted, one, timeout=left):
            yield ValidationError(f"{one!r} does not match {wanted!r}")

    def counted(check: _Keyword) -> _Keyword:
        def run(validator: Any, limit: Any, one: Any, within: Any) -> Any:  # noqa: ANN401
            if next(steps, None) is None:
                raise RecursionError
            return check(validator, limit, one, within)

        return run

    own = {"pattern": pattern, "uniqueItems": _unique_items}
    keywords = {**Draft202012Validator.VALIDATORS, **own}
    validator = extend(  # type: ignore[no-untyped-call]  # the library's own
        Draft202012Validator, {name: counted(check) for name, check in keywords.items()}
    )
    error = next(validator(schema, registry=_NOTHING).iter_errors(value), None)
    if error is None:
        return ""
    where = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.absolute_path)
    message = f"at ${where[:100]}: {error.message}"
    return message if len(message) <= _MAX_FAULT else f"{message[: _MAX_FAULT - 1]}…"


def _unique_items(_: Any, wanted: bool, one: object, __: Any) -> Iterator[ValidationError]:  # noqa: ANN401
    # The library's own compares every pair.
    items = one if wanted and isinstance(one, list) else []
    if len({json.dumps(item, sort_keys=True) for item in items}) < len(items):
        yield ValidationError("its items are not unique")
