"""How Discord is reached."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Address:
    """The bot's token, and where Discord answers; empty addresses are Discord's own."""

    token: str = field(repr=False)
    api_url: str = ""
    gateway_url: str = ""

    def point(self) -> None:
        """Have the library talk to it; for a whole process, there is no other way."""
        # It takes a third of a second, which no start without a token should wait for.
        import yarl
        from discord.gateway import DiscordWebSocket
        from discord.http import Route

        if self.api_url:
            Route.BASE = self.api_url.rstrip("/")
        if self.gateway_url:
            DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(self.gateway_url)
