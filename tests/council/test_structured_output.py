"""Which schemas an answer may have to fit, and which answers do; everything is bounded."""

import json
from typing import Any

import pytest

from council.errors import AnswerSchemaError
from council.structured_output import (
    ANY_OBJECT,
    MAX_ANSWER_CHARACTERS,
    MAX_PATTERN_CHARACTERS,
    MAX_SCHEMA_CHARACTERS,
    check_schema,
    find_answer_fault,
    unfenced,
)

LIST: dict[str, Any] = {
    "type": "object",
    "properties": {"value": {"type": "integer"}, "next": {"$ref": "#"}},
    "required": ["value"],
    "additionalProperties": False,
}


def fault(value: object, schema: dict[str, Any]) -> str:
    return find_answer_fault(json.dumps(value), check_schema(schema))


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"items": schema}
    return schema


def doubled(levels: int) -> dict[str, Any]:
    """Return a short schema that takes 2 ** levels steps to check."""
    parts: dict[str, Any] = {"a0": {"type": "object"}}
    for level in range(1, levels + 1):
        parts[f"a{level}"] = {"allOf": [{"$ref": f"#/$defs/a{level - 1}"}] * 2}
    return {"$defs": parts, "$ref": f"#/$defs/a{levels}"}


def test_a_schema_is_kept_as_it_was_sent() -> None:
    assert json.loads(check_schema(LIST)) == LIST


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        pytest.param([], "must be a JSON object", id="no object"),
        pytest.param({"type": "number of cats"}, "invalid at type", id="no schema"),
        pytest.param({"enum": 1}, "invalid at enum", id="no list"),
        pytest.param({"a": "x" * MAX_SCHEMA_CHARACTERS}, "the limit is 50,000", id="too long"),
        pytest.param(nested(5_000), "nested too deeply", id="too deep to write"),
        pytest.param(nested(400), "nested too deeply", id="too deep to check"),
        pytest.param({"$ref": "#"}, "without an end", id="a circle"),
        pytest.param({"$ref": "http://127.0.0.1/x"}, "Nothing is fetched", id="elsewhere"),
        pytest.param({"items": {"$ref": "#/$defs/x"}}, "is not in it", id="nowhere"),
        pytest.param({"pattern": "("}, "is invalid: missing", id="no pattern"),
        pytest.param(
            {"pattern": "a" * (MAX_PATTERN_CHARACTERS + 1)}, "at most 500", id="long pattern"
        ),
        pytest.param({"patternProperties": {}}, "can't check patternProperties", id="unchecked"),
    ],
)
def test_what_can_not_be_checked_is_refused(schema: object, why: str) -> None:
    with pytest.raises(AnswerSchemaError, match=why):
        check_schema(schema)


@pytest.mark.parametrize(
    "text",
    [
        '{"value": 1, "next": {"value": 2}}',
        '```json\n{"value": 1}\n```',
        "~~~\n{\n}\n~~~".replace("{\n}", '{"value": 0}'),
    ],
)
def test_an_answer_that_fits_has_no_fault(text: str) -> None:
    assert find_answer_fault(text, check_schema(LIST)) == ""


def test_a_fence_around_the_whole_answer_is_taken_away() -> None:
    assert unfenced("\n```json\n{}\n```\n") == "{}"
    assert unfenced(" {} ") == "{}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Gladly!", "it is not JSON: Expecting value at character 0"),
        ('{"value": 1} so', "it is not JSON: Extra data at character 13"),
        ('{"value": NaN}', "it is not JSON that can be checked"),
        ("[" * 100_000, "it is not JSON that can be checked"),
        ('{"value": "1"}', "at $.value: '1' is not of type 'integer'"),
        ('{"value": 1, "next": {}}', "at $.next: 'value' is a required property"),
        (f'"{"x" * MAX_ANSWER_CHARACTERS}"', "it has more than 500,000 characters"),
    ],
)
def test_the_fault_of_an_answer_is_named(text: str, why: str) -> None:
    assert find_answer_fault(text, check_schema(LIST)) == why


def test_a_fault_is_short_and_says_where() -> None:
    found = fault([["x" * 1_000]], {"items": {"items": {"type": "integer"}}})

    assert found.startswith("at $[0][0]: 'xxx")
    assert len(found) == 300


def test_any_object_is_an_object() -> None:
    assert find_answer_fault('{"a": [1]}', ANY_OBJECT) == ""
    assert find_answer_fault("[1]", ANY_OBJECT) == "at $: [1] is not of type 'object'"


def test_patterns_are_checked_on_texts_only() -> None:
    schema = {"pattern": "^[a-z]+$"}

    assert (fault("abc", schema), fault(7, schema)) == ("", "")
    assert fault("A", schema) == "at $: 'A' does not match '^[a-z]+$'"


def test_a_pattern_is_no_pattern_of_pythons() -> None:
    schema = {"type": "string", "pattern": r"^\p{L}+$"}

    assert fault("Zürich", schema) == ""
    assert "does not match" in fault("8001", schema)


def test_a_pattern_that_takes_for_ever_is_given_up() -> None:
    found = fault(["a" * 500 + "b"] * 500, {"items": {"not": {"pattern": "(a|aa)+$"}}})

    assert found == "its patterns take too long to check"


def test_items_are_compared_in_one_pass() -> None:
    schema = {"uniqueItems": True}

    assert fault([{"a": i} for i in range(3_000)], schema) == ""
    assert fault([1, 2, 1], schema) == "at $: its items are not unique"
    assert fault([1, 1], {"uniqueItems": False}) == ""
    assert fault("11", schema) == ""


def test_a_reference_whose_base_changes_leads_nowhere() -> None:
    inner = {"$id": "http://b/", "$ref": "#/$defs/y"}

    found = fault({"x": 1}, {"properties": {"x": inner}, "$defs": {"y": {}}})

    assert found == "its schema refers to '/$defs/y', which is not in it"


def test_a_short_schema_with_endless_work_is_given_up() -> None:
    assert fault({}, doubled(40)) == "it is not JSON that can be checked"
