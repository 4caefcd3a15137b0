"""A model that does what its system role demands, and reads demands nowhere else.

Asked for JSON of a schema there, it writes some that fits.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.wire.models.behaviours import Behaviour, Outcome, Request, Say, by_role, fences, judge

TEXT = "Use Postgres, and decide again after a year."
_TRAILER = json.dumps({"drawn_on": [], "departs": False, "why": ""})
_SCHEMA = re.compile(r"(?:JSON[ _]|this )schema:?\s", re.IGNORECASE)
_KEYS = re.compile(r'"(\w+)" \((text|integer)\)')
_FIELDS = re.compile(r"^\d+\. `(\w+)` \((\w+)\)", re.MULTILINE)  # as DSPy lists them
_TYPES = {"text": "string", "str": "string", "integer": "integer", "int": "integer"}


def _repeated(text: str, number: int, between: str) -> str:
    words = text.split()
    return between.join(words[i % len(words)] for i in range(number))


# Each demand, and what it makes of an answer; they are carried out in this order.
_DEMANDS: tuple[tuple[str, Callable[..., str]], ...] = (
    (r"Write exactly (\d+) words", lambda text, n: _repeated(text, int(n), " ")),
    (r"Write exactly (\d+) lines", lambda text, n: _repeated(text, int(n), "\n")),
    (r'Mention "([^"]+)"', lambda text, words: f"{text} Ask a {words}."),
    (r'Never use the letter "(\w)"', lambda text, letter: text.replace(letter, "")),
    (r"Write in capital letters", lambda text: text.upper()),
    (r"Write in lower case", lambda text: text.lower()),
    (r"Join the words with hyphens", lambda text: "-".join(text.split())),
    (r'Begin with "([^"]+)"', lambda text, words: f"{words} {text}"),
    (r'End with "([^"]+)"', lambda text, words: f"{text} {words}"),
    (r"Write the answer in bold", lambda text: f"**{text}**"),
    (r"Put the answer in <(\w+)> tags", lambda text, tag: f"<{tag}>{text}</{tag}>"),
    (r'Answer with "([^"]+)" alone', lambda _, words: words),
)


def obey(system: str, text: str = TEXT) -> str:
    """Return the text as a system role demands it."""
    for demand, carry_out in _DEMANDS:
        if found := re.search(demand, system):
            text = carry_out(text, *found.groups())
    return text


def obedient() -> Behaviour:
    """Play each role, as member and chairman with what the system role demands."""
    return by_role(lambda request: Say(obey(request.system)), judge(), _chair)


def _chair(request: Request) -> Outcome:
    assert fences(request.user)
    schema = wanted_schema(request.system)
    text = obey(request.system)
    if schema is not None:
        text = json.dumps(example_of(schema, schema, text))
    elif fields := _output_fields(request.system):
        marked = (f"[[ ## {name} ## ]]\n{text if kind == 'str' else 7}" for name, kind in fields)
        text = "\n\n".join((*marked, "[[ ## completed ## ]]"))
    return Say(f"{text}\n{_TRAILER}")


def wanted_schema(system: str) -> Mapping[str, Any] | None:
    """Return the schema that a system prompt sets; None if it sets none.

    The last one with properties says most; keys that are only described are properties too.
    """
    found = [schema for schema in _schemas(system) if isinstance(schema, dict)]
    described = _KEYS.findall(system) or _output_fields(system)
    for schema in reversed(found):
        if schema.get("properties") or "$ref" in schema:
            return schema
    if found and described:
        properties = {name: {"type": _TYPES[kind]} for name, kind in described}
        return {"type": "object", "properties": properties}
    return found[0] if found else None


def _schemas(system: str) -> Iterator[object]:
    for match in _SCHEMA.finditer(system):
        begin = system.find("{", match.end())
        try:
            yield json.JSONDecoder().raw_decode(system, begin)[0] if begin >= 0 else None
        except ValueError:
            continue


def _output_fields(system: str) -> list[tuple[str, str]]:
    listed = system.partition("Your output fields are:")[2].partition("\n\n")[0]
    return _FIELDS.findall(listed.partition("All interactions")[0])


def example_of(schema: Mapping[str, Any], root: Mapping[str, Any], text: str) -> object:
    """Return a value that fits a plain schema, with this text where one is wanted."""
    if ref := schema.get("$ref"):
        target: Any = root
        for part in str(ref).removeprefix("#").strip("/").split("/"):
            target = target[part] if part else target
        return example_of(target, root, text)
    options = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if options:
        return example_of(options[0], root, text)
    kind = schema.get("type", "object")
    if kind == "object":
        properties: dict[str, Any] = schema.get("properties", {})
        return {name: example_of(one, root, text) for name, one in properties.items()}
    if kind == "array":
        return [example_of(schema.get("items", {}), root, text)] * schema.get("minItems", 1)
    plain = {"string": text, "integer": 7, "number": 7.0, "boolean": True}
    return schema.get("const", schema.get("enum", [plain.get(kind)])[0])
