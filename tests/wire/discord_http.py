"""A bare client of the REST API, for requests that no library sends."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp

from tests.wire.discord import FakeDiscord


@dataclass(frozen=True, slots=True)
class Answer:
    """A response."""

    status: int
    body: Any
    headers: dict[str, str]

    @property
    def code(self) -> int:
        """Discord's own code of a refusal."""
        return int(self.body["code"])


class Client:
    """Sends requests with the bot's token unless another is set."""

    def __init__(self, fake: FakeDiscord, session: aiohttp.ClientSession) -> None:
        self._fake = fake
        self.session = session
        self.token = fake.token

    async def ask(self, request: str, body: Any = None, **files: bytes) -> Answer:  # noqa: ANN401
        """Ask "POST /channels/C1/messages"; places by handle, files by their names."""
        method, path = request.split(" ")
        path = "/".join(self._named(part) for part in path.split("/"))
        headers = {"Authorization": f"Bot {self.token}"}
        sent: dict[str, Any] = {"json": body} if not files else {"data": _form(body, files)}
        url = self._fake.api_url + path
        async with self.session.request(method, url, headers=headers, **sent) as response:
            text = await response.text()
            shown = json.loads(text) if response.content_type == "application/json" else text
            return Answer(response.status, shown, dict(response.headers))

    def _named(self, part: str) -> str:
        for place in self._fake.world.channels.values():
            if part and part == place.handle:
                return place.id
        return part


def _form(body: object, files: dict[str, bytes]) -> aiohttp.FormData:
    form = aiohttp.FormData(quote_fields=False)
    form.add_field("payload_json", json.dumps(body))
    for number, (name, content) in enumerate(files.items()):
        form.add_field(f"files[{number}]", content, filename=name)
    return form


@asynccontextmanager
async def client_of(fake: FakeDiscord) -> AsyncIterator[Client]:
    """Return a client until the block ends."""
    async with aiohttp.ClientSession() as session:
        yield Client(fake, session)
