"""The CDN: attachments at signed addresses that expire."""

from aiohttp import web

from tests.wire.discord.message_payloads import signature
from tests.wire.discord.state import State


class Cdn:
    """Serves what was uploaded, by people or by the bot."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.served: list[str] = []  # file ids

    async def serve(self, request: web.Request) -> web.Response:
        """Return a file, if its address is signed and still holds."""
        names = request.match_info
        file = self._state.files.get(names["file"])
        until = request.query.get("ex", "")
        if file is None or (file.channel, file.name) != (names["channel"], names["name"]):
            return web.Response(status=404, text="")
        signed = request.query.get("hm") == signature(file, until)
        if not signed or int(until, 16) < self._state.now():
            return web.Response(status=404, text="This content is no longer available.")
        self.served.append(file.id)
        return web.Response(body=file.content, content_type=file.content_type)
