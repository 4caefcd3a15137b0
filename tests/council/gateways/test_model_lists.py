"""Lists of models in the shapes of the providers, and the headers that each of them expects."""

import asyncio
import json

import pytest

from council.errors import ModelListError
from council.gateways import model_lists
from council.gateways.model_lists import list_models, uses_tls
from council.providers import PROVIDERS, Provider
from tests.council.gateways.local import file_server

ANTHROPIC, GEMINI, OPENROUTER = PROVIDERS[1:4]


@pytest.mark.parametrize(
    ("provider", "reply", "names"),
    [
        (ANTHROPIC, {"data": [{"id": "claude-x", "type": "model"}]}, ("claude-x",)),
        (
            GEMINI,
            {
                "models": [
                    {"name": "models/g", "supportedGenerationMethods": ["generateContent"]},
                    {"name": "models/e", "supportedGenerationMethods": ["embedContent"]},
                ]
            },
            ("g",),
        ),
        (
            OPENROUTER,
            {
                "data": [
                    {"id": "a/text", "architecture": {"output_modalities": ["text"]}},
                    {"id": "a/image", "architecture": {"output_modalities": ["image"]}},
                    {"id": "has spaces"},
                ]
            },
            ("a/text",),
        ),
    ],
)
async def test_models_that_chat_are_listed(
    provider: Provider, reply: object, names: tuple[str, ...]
) -> None:
    async with file_server.serving() as files:
        files.files[provider.path] = json.dumps(reply).encode()

        assert await list_models(provider, files.address, "key") == names


async def test_a_list_that_is_too_large_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_lists, "MAX_REPLY_BYTES", 100)
    async with file_server.serving() as files:
        files.files["/models"] = b'{"data": [' + b" " * 1000 + b"]}"

        with pytest.raises(ModelListError):
            await list_models(PROVIDERS[0], files.address, "key")


@pytest.mark.parametrize(
    ("url", "is_checked"),
    [
        ("http://127.0.0.1:11434/api/tags", False),
        ("HTTP://127.0.0.1:11434/api/tags", False),
        ("https://api.example.com/v1/models", True),
        ("HTTPS://api.example.com/v1/models", True),
    ],
)
def test_only_plain_http_goes_without_certificates(url: str, *, is_checked: bool) -> None:
    assert uses_tls(url) is is_checked


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "[fe80::1]",
        "[::ffff:169.254.169.254]",
        # As the resolver reads numbers.
        "2852039166",
        "0xa9.0xfe.43518",
    ],
)
async def test_a_link_local_address_is_not_called(host: str) -> None:
    with pytest.raises(ModelListError, match="link-local"):
        await list_models(PROVIDERS[-1], f"http://{host}/v1", "key")


async def test_a_name_of_a_link_local_address_is_not_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def resolve(*_: object, **__: object) -> list[object]:
        return [(0, 0, 0, "", ("169.254.169.254", 80))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve)
    with pytest.raises(ModelListError, match="link-local"):
        await list_models(PROVIDERS[-1], "http://metadata.example/v1", "key")
