import json

import pytest

from council.gateways.local.gateway import ollama_models
from tests.council.gateways.local.builders import UNREACHABLE
from tests.council.gateways.local.file_server import FileServer


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
