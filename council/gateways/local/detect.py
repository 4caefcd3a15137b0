"""Model servers that are already running: who is there, and which models it has."""

import httpx

TIMEOUT = httpx.Timeout(2.0, connect=0.5)
OLLAMA = "http://127.0.0.1:11434"


async def ollama_models(address: str = OLLAMA) -> tuple[str, ...]:
    """Give the models an Ollama at this address has; () on any failure."""
    return await _names(f"{address.rstrip('/')}/api/tags", entries="models", key="name")


async def compatible_models(api_base: str) -> tuple[str, ...]:
    """Give the models an OpenAI-compatible server lists; () on any failure."""
    return await _names(f"{api_base.rstrip('/')}/models", entries="data", key="id")


async def _names(url: str, *, entries: str, key: str) -> tuple[str, ...]:
    try:
        async with httpx.AsyncClient(timeout=TIMEOUT) as client:
            response = await client.get(url)
            response.raise_for_status()
            return tuple(str(entry[key]) for entry in response.json()[entries])
    # Whoever listens there may answer anything; what cannot be read is nobody we can use.
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, LookupError, TypeError):
        return ()
