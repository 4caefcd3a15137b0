"""Connection settings of Discord.

Imports nothing heavy: every start reads the settings, also without a token.
"""

from base64 import b64decode
from dataclasses import dataclass, field

from bot.settings import Settings


@dataclass(frozen=True, slots=True)
class DiscordCredentials:
    """The bot's token and Discord's URLs; an empty URL means Discord's own."""

    token: str = field(repr=False)
    api_url: str = ""
    gateway_url: str = ""

    @property
    def application(self) -> int | None:
        """Return the application's id, the first part of the token; None if it has none."""
        part = self.token.partition(".")[0]
        try:
            return int(b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True))
        except ValueError:
            return None

    def apply(self) -> None:
        """Point discord.py at these URLs, for the whole process: it offers no other way."""
        # Takes a third of a second, which a start without a token should not spend.
        import yarl
        from discord.gateway import DiscordWebSocket
        from discord.http import Route

        if self.api_url:
            Route.BASE = self.api_url.rstrip("/")
        if self.gateway_url:
            DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(self.gateway_url)


def read_credentials(settings: Settings) -> DiscordCredentials | None:
    """Return Discord's token and addresses, or None if there is no token."""
    credentials = DiscordCredentials(
        token=settings.value("DISCORD_TOKEN"),
        api_url=settings.url("DISCORD_API_URL"),
        gateway_url=settings.value("DISCORD_GATEWAY_URL"),
    )
    return credentials if credentials.token else None
