"""The fake Discord of a test: people act, the bot responds, the test inspects the result."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from types import TracebackType
from typing import Any, Self

from tests.wire.discord.calls import Call
from tests.wire.discord.checks.message import pings_in
from tests.wire.discord.gateway import Gateway
from tests.wire.discord.routes.identity import gateway_url
from tests.wire.discord.sample_world import sample_world
from tests.wire.discord.server import BASE, INVALID, Server
from tests.wire.discord.state import Installation, Rules, SeenFault, State
from tests.wire.discord.user_actions import UserActions
from tests.wire.discord.world import Channel, Message, User, World
from tests.wire.discord.world_changes import WorldChanges
from tests.wire.faults import Fault, Storm, until

Payload = dict[str, Any]


class FakeDiscord(UserActions, WorldChanges):
    def __init__(
        self,
        rules: Rules | None = None,
        world: World | None = None,
        app: Installation | None = None,
        port: int = 0,
    ) -> None:
        state = State(rules or Rules(), world or sample_world(), app or Installation())
        super().__init__(state)
        self.gateway = Gateway(state)
        self._server = Server(state, self.gateway, port)

    async def __aenter__(self) -> Self:
        await self._server.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.gateway.cut()
        await self._server.stop()

    @property
    def api_url(self) -> str:
        return self.state.address + BASE

    @property
    def gateway_url(self) -> str:
        return gateway_url(self.state)

    @property
    def settings(self) -> dict[str, str]:
        """The environment of a product that is to talk to this Discord."""
        return {
            "DISCORD_API_URL": self.api_url,
            "DISCORD_GATEWAY_URL": self.gateway_url,
            "DISCORD_TOKEN": self.token,
        }

    @property
    def token(self) -> str:
        return self.state.app.token

    @property
    def world(self) -> World:
        return self.state.world

    @property
    def bot(self) -> User:
        """The bot's user; `discord.bot.mention` names it in a text."""
        return self.state.bot

    @property
    def calls(self) -> list[Call]:
        return self.state.calls

    @property
    def faults(self) -> list[SeenFault]:
        return self.state.faults

    @property
    def refusals(self) -> list[Call]:
        return [call for call in self.calls if not call.outcome.startswith("2")]

    @property
    def invalid_requests(self) -> int:
        """How many requests count towards Cloudflare's ban: answered 401, 403 or 429."""
        return sum(call.status in INVALID for call in self.calls)

    def called(self, pattern: str) -> list[Call]:
        """Return the requests of a pattern like "POST /channels/*/messages", in order."""
        return [call for call in self.calls if fnmatchcase(f"{call.method} {call.path}", pattern)]

    def user(self, who: str) -> User:
        return self.world.user(who)

    def channel(self, where: str) -> Channel:
        return self.world.channel(where)

    def messages(self, channel: str | Channel) -> list[Message]:
        """Return what everyone sees in a place, in order."""
        return [one for one in self.world.channel(channel).said if not one.ephemeral_to]

    def said_by_bot(self, channel: str | Channel) -> list[Message]:
        """Return what the bot said in a place for everyone, in order."""
        return [one for one in self.messages(channel) if one.author is self.bot]

    def thread_of(self, message: Message) -> Channel:
        assert message.thread is not None, "no thread was begun from it"
        return message.thread

    def direct(self, user: str | User) -> list[Message]:
        """Return everything in the direct conversation with this user."""
        place = self.world.direct(self.world.user(user))
        return list(place.said) if place else []

    def ephemerals(self, user: str | User) -> list[Message]:
        """Return what this user alone is shown, in order."""
        id_ = self.world.user(user).id
        places = self.world.channels.values()
        shown = [one for place in places for one in place.said if one.ephemeral_to == id_]
        return sorted(shown, key=lambda one: int(one.id))

    def commands(self) -> list[str]:
        return [one["name"] for one in self.state.commands]

    def pings(self) -> list[str]:
        """Return whom every message ever sent or edited would have notified."""
        found: list[str] = []
        for call in self.calls:
            if call.route.startswith("/channels/"):
                found += pings_in(call.payload) + pings_in(call.payload.get("message") or {})
            elif call.is_interaction:
                data = call.payload.get("data") if "callback" in call.route else call.payload
                found += pings_in(data or {}, "interaction")
        return found

    def trouble(self, pattern: str, trouble: Fault, times: int = 1) -> None:
        """Apply a fault to the next requests of a pattern: "POST /channels/*/messages", "*"."""
        self.state.troubles.order(pattern, trouble, times)

    def storm(self, pattern: str, storm: Storm) -> None:
        """Answer every request of a pattern with 429 for so long."""
        self.state.troubles.storm(pattern, storm, self.state.now())

    async def connected(self, seconds: float = 30.0) -> None:
        """Wait until the bot is on the gateway and has heard everything."""
        await self.until(self.gateway.is_connected, seconds)

    def calm(self) -> None:
        self.state.troubles.clear()

    async def until(self, holds: Callable[[], object], seconds: float = 30.0) -> None:
        await until(holds, seconds, lambda: map(str, self.calls[-8:]))
