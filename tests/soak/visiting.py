"""A client of the page that sends the same form again until the server accepts it."""

import asyncio
import re
from typing import Any

import httpx

_FIELD = re.compile(r'name="(token|round)" value="([^"]+)"')
_PAUSE_SECONDS = 0.1


class Visitor:
    """Asks rounds one after another, through whatever happens to the server."""

    def __init__(self, address: str) -> None:
        self._client = httpx.AsyncClient(base_url=address, timeout=10, trust_env=False)

    async def close(self) -> None:
        await self._client.aclose()

    async def ask(self, question: str) -> str:
        """Send the form until the server accepts it; return the round's id."""
        page = await self._persistently("GET", "/")
        form = dict(_FIELD.findall(page.text)) | {"question": question}
        taken = await self._persistently("POST", "/ask", data=form)
        assert taken.status_code == 303, (taken.status_code, taken.text)
        return taken.headers["location"].removeprefix("/rounds/")

    async def closed(self, round_id: str, pause_seconds: float = _PAUSE_SECONDS) -> dict[str, Any]:
        """Wait until the round is closed, and return its document."""
        while True:
            if (await self.state(round_id))["closed"]:
                return await self.document(round_id)
            await asyncio.sleep(pause_seconds)

    async def state(self, round_id: str) -> dict[str, Any]:
        found = await self._persistently("GET", f"/rounds/{round_id}/state")
        state: dict[str, Any] = found.json()
        return state

    async def document(self, round_id: str) -> dict[str, Any]:
        found = await self._persistently("GET", f"/rounds/{round_id}/round.json")
        document: dict[str, Any] = found.json()
        return document

    async def page(self, round_id: str) -> str:
        return (await self._persistently("GET", f"/rounds/{round_id}")).text

    async def _persistently(self, method: str, path: str, **given: Any) -> httpx.Response:  # noqa: ANN401
        while True:
            try:
                response = await self._client.request(method, path, **given)
            except httpx.TransportError:
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            if response.status_code != httpx.codes.TOO_MANY_REQUESTS:
                return response
            await asyncio.sleep(float(response.headers["Retry-After"]))
