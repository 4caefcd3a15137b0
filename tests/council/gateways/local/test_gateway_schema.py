from council.gateways.local.gateway import tighten_schema


def a_ballot_schema(letters: str) -> dict[str, object]:
    ranking = {
        "type": "array",
        "items": {"type": "array", "items": {"type": "string", "enum": list(letters)}},
    }
    return {
        "type": "object",
        "properties": {
            "nonce": {"type": "string", "enum": ["4f9c"]},
            "reason": {"type": "string"},
            "ranking": ranking,
        },
        "required": ["nonce", "reason", "ranking"],
        "additionalProperties": False,
    }


def test_two_letters_can_be_ranked_in_two_ways() -> None:
    assert tighten_schema(a_ballot_schema("AB")) == {
        "type": "object",
        "properties": {
            "nonce": {"type": "string", "enum": ["4f9c"]},
            "reason": {"type": "string", "maxLength": 160},
            "ranking": {"enum": [[["A"], ["B"]], [["B"], ["A"]]]},
        },
        "required": ["nonce", "reason", "ranking"],
        "additionalProperties": False,
    }


def test_the_keys_keep_their_order() -> None:
    properties = tighten_schema(a_ballot_schema("ABC"))["properties"]

    assert isinstance(properties, dict)
    assert list(properties) == ["nonce", "reason", "ranking"]


def test_six_letters_stay_a_list() -> None:
    schema = a_ballot_schema("ABCDEF")
    properties = schema["properties"]

    assert isinstance(properties, dict)
    assert tighten_schema(schema)["properties"] == properties | {
        "reason": {"type": "string", "maxLength": 160}
    }


def test_other_schemas_only_get_length_limits() -> None:
    words = {"type": "array", "items": {"type": "string"}}
    grade = {"type": "object", "properties": {"words": words, "score": {"type": "integer"}}}

    assert tighten_schema(grade)["properties"] == {
        "words": {"type": "array", "items": {"type": "string", "maxLength": 160}},
        "score": {"type": "integer"},
    }


def test_the_original_schema_is_unchanged() -> None:
    schema = a_ballot_schema("ABC")

    tighten_schema(schema)

    assert schema == a_ballot_schema("ABC")
