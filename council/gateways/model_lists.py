"""Lists of the models that providers offer, read over HTTP from their documented endpoints."""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from socket import SOCK_STREAM
from urllib.parse import urlsplit

from council.errors import ModelListError
from council.providers import Provider, is_link_local

MAX_REPLY_BYTES = 6_000_000  # OpenRouter describes hundreds of models
MAX_MODELS = 2_000
LIST_SECONDS, MODEL_SECONDS = 15.0, 60
_MODEL_NAME = re.compile(r"[!-~]{1,200}")
_BAD_KEY = re.compile(rb"api.?key", re.IGNORECASE)  # Gemini replies 400 to a wrong key
_NO_QUOTA = re.compile(
    rb"insufficient_quota|exceeded your current quota|quota .{0,99} is used up", re.IGNORECASE
)
_BAD_KEY_TEXT = (
    "{name} refused the key ({status}): it is wrong, incomplete or expired. Copy it again or "
    "create a new one at {where}."
)
_REFUSALS: Mapping[object, str] = {
    401: _BAD_KEY_TEXT,
    402: "The credit at {name} is used up. Add credit at {where}, then try again.",
    403: _BAD_KEY_TEXT,
    404: "{base} has no list of models (404). Check the address; it usually ends in /v1.",
    429: "{name} is limiting requests (429). Wait a minute, then try again.",
    "redirect": "{base} redirects elsewhere ({status}). Enter the final address instead.",
}


async def list_models(
    provider: Provider, base: str, key: str = "", seconds: float = LIST_SECONDS
) -> tuple[str, ...]:
    """Return the names of the models that can chat; raise ModelListError if none are listed."""
    import httpx  # slow to import

    url, headers = base.rstrip("/") + provider.path, {"Accept-Encoding": "identity"}
    if key:
        headers |= {name: value.format(key=key) for name, value in provider.headers}
    try:
        async with asyncio.timeout(seconds):
            await _refuse_link_local(url)
            status, body = await _fetch(url, headers)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, TimeoutError):
        # The cause is not chained: it holds the request with the key.
        raise ModelListError(
            f"{urlsplit(base).netloc} could not be reached. Check the address, and that the "
            "server is running."
        ) from None
    if status != httpx.codes.OK:
        raise ModelListError(refusal_text(provider, base, status, body))
    try:
        names = tuple(dict.fromkeys(_chat_models(json.loads(body))))[:MAX_MODELS]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise ModelListError(
            f"{url.partition('?')[0]} did not return a list of models. Check the address; an "
            "OpenAI-compatible one usually ends in /v1."
        ) from None
    if not names:
        raise ModelListError(f"{provider.label} lists no chat models. {provider.if_empty}")
    return names


async def _refuse_link_local(url: str) -> None:
    """Raise ModelListError for a link-local address, however it is written or named.

    The resolver also reads the forms that `ip_address` does not, such as 2852039166.
    """
    parts, found = urlsplit(url), []
    with suppress(OSError):  # only a proxy may be able to resolve it
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(parts.hostname, parts.port, type=SOCK_STREAM)
    if any(is_link_local(str(address[0])) for *_, address in found):
        raise ModelListError(
            f"{parts.hostname} is a link-local address, where clouds keep secrets of their "
            "machines. Enter another address of that server."
        )


def uses_tls(url: str) -> bool:
    """Return False for plain HTTP, as of Ollama, which needs no certificates: they load slowly."""
    import httpx

    return httpx.URL(url).scheme != "http"  # in small letters, however it was typed


async def _fetch(url: str, headers: Mapping[str, str]) -> tuple[int, bytes]:
    """Return the status and body; follow no redirect and raise ValueError for a body too large."""
    import httpx

    body = b""
    async with (
        httpx.AsyncClient(headers=headers, verify=uses_tls(url)) as client,
        client.stream("GET", url) as response,
    ):
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > MAX_REPLY_BYTES:
                raise ValueError
        return response.status_code, body


def refusal_text(provider: Provider, base: str, status: int, body: bytes = b"") -> str:
    """Return what a refusal means and what to do, without quoting the reply."""
    import httpx

    if _NO_QUOTA.search(body):
        status = 402
    elif status == httpx.codes.BAD_REQUEST and _BAD_KEY.search(body):
        status = 401
    kind = "redirect" if httpx.codes.is_redirect(status) else status
    text = _REFUSALS.get(kind, "{name} could not answer ({status}). Try again later.")
    where = provider.key_page or "that server"
    return text.format(name=provider.label, where=where, base=base, status=status)


def model_refusal(provider: Provider, model: str, reason: str) -> ModelListError:
    """Return why a listed model did not answer, from the text of a GatewayError."""
    status = re.search(r"\((\d{3})\)$", reason)
    if status and int(status[1]) in {401, 402, 429}:
        text = refusal_text(provider, provider.base, int(status[1]), reason.encode())
        refused = ModelListError(text)
        refused.is_final = True
        return refused
    why = reason or f"did not answer in {MODEL_SECONDS} s"
    return ModelListError(f"{provider.label} lists {model}, but it {why}. Check it there first.")


def _chat_models(document: Mapping[str, list[Mapping[str, object]]]) -> Iterator[str]:
    """Yield the models of a list, whose shape is OpenAI's, Google's or Ollama's."""
    entries = document["data"] if "data" in document else document["models"]
    for entry in entries or ():
        name = str(entry.get("id") or entry["name"]).removeprefix("models/")
        methods = entry.get("supportedGenerationMethods")  # Google
        architecture = entry.get("architecture")  # OpenRouter
        outputs = architecture.get("output_modalities") if isinstance(architecture, dict) else None
        can_chat = (not isinstance(methods, list) or "generateContent" in methods) and (
            not isinstance(outputs, list) or "text" in outputs
        )
        if can_chat and _MODEL_NAME.fullmatch(name):
            yield name
