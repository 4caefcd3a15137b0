import json

import pytest

from council.gateways.local.gateway import MAX_TEXT_LENGTH, ollama_models, tighten_schema
from tests.council.gateways.local.builders import UNREACHABLE
from tests.council.gateways.local.file_server import FileServer


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
            "reason": {"type": "string", "maxLength": MAX_TEXT_LENGTH},
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
        "reason": {"type": "string", "maxLength": MAX_TEXT_LENGTH}
    }


def test_other_schemas_only_get_length_limits() -> None:
    words = {"type": "array", "items": {"type": "string"}}
    grade = {"type": "object", "properties": {"words": words, "score": {"type": "integer"}}}

    assert tighten_schema(grade)["properties"] == {
        "words": {"type": "array", "items": {"type": "string", "maxLength": MAX_TEXT_LENGTH}},
        "score": {"type": "integer"},
    }


def test_the_original_schema_is_unchanged() -> None:
    schema = a_ballot_schema("ABC")

    tighten_schema(schema)

    assert schema == a_ballot_schema("ABC")


async def test_the_models_of_ollama_are_listed(files: FileServer) -> None:
    files.files["/api/tags"] = json.dumps({"models": [{"name": "qwen3:8b"}]}).encode()

    assert await ollama_models(files.address) == ("qwen3:8b",)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"<html>", id="not-json"),
        pytest.param(b"[]", id="a-list"),
        pytest.param(b'{"models": [{}]}', id="no-name"),
        pytest.param(b'{"models": null}', id="null"),
    ],
)
async def test_another_server_has_no_models(files: FileServer, content: bytes) -> None:
    files.files["/api/tags"] = content

    assert await ollama_models(files.address) == ()


async def test_an_unreachable_server_has_no_models(files: FileServer) -> None:
    assert await ollama_models(UNREACHABLE) == ()
    assert await ollama_models(files.address) == ()
    assert await ollama_models("not an address") == ()
