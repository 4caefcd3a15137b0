"""Parser of the sources in a reply to a web search, in the shapes of all providers."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from council.answers import Source, storable_text

MAX_SOURCES = 20
MAX_TITLE_CHARACTERS = 200
MAX_URL_CHARACTERS = 2_000
_MAX_DEPTH = 6
# Where providers put them: OpenAI and Anthropic in the message, the others in the reply.
_IN_MESSAGE = ("annotations", "provider_specific_fields")
_IN_REPLY = ("search_results", "citations", "vertex_ai_grounding_metadata")


def find_sources(reply: Mapping[str, Any]) -> tuple[Source, ...]:
    """Return the web pages that a reply cites, each once; other addresses than http are dropped."""
    message = reply["choices"][0]["message"]
    places = [message.get(name) for name in _IN_MESSAGE] + [reply.get(name) for name in _IN_REPLY]
    found: dict[str, Source] = {}
    for title, url in _walk(places, _MAX_DEPTH):
        if _is_web_address(url):
            name = " ".join(storable_text(title).split())[:MAX_TITLE_CHARACTERS]
            found.setdefault(url, Source(name or urlsplit(url).hostname or "", url))
    return tuple(found.values())[:MAX_SOURCES]


def _walk(value: object, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the title and address of each link at any depth; a bare address has no title."""
    if depth < 0:
        return
    if isinstance(value, str):
        yield "", value
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item, depth - 1)
    elif isinstance(value, dict):
        url, title = value.get("url") or value.get("uri"), value.get("title")
        if isinstance(url, str):
            yield title if isinstance(title, str) else "", url
            return
        for item in value.values():
            if not isinstance(item, str):
                yield from _walk(item, depth - 1)


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname)
    except ValueError:
        return False
    is_plain = url.isprintable() and " " not in url and len(url) <= MAX_URL_CHARACTERS
    return parts.scheme in {"http", "https"} and named and is_plain
