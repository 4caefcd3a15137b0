"""Connection settings and message limits of Discord.

Imports nothing heavy: every start reads the settings, also without a token.
"""

from dataclasses import dataclass, field

MAX_COMPONENTS = 40  # in one message, nested ones included
MAX_TEXT_LENGTH = 4_000  # characters of all texts in one message
# Discord fails beyond 10,170 of these, so it refuses a message of emoji before 4,000 characters.
MAX_WEIGHT = 10_000
WEIGHT_OF_TEXT = 12  # what a text counts in addition to its bytes

MAX_ROW_BUTTONS = 5
MAX_BUTTON_LABEL_LENGTH = 80
MAX_CUSTOM_ID_LENGTH = 100
MAX_URL_LENGTH = 2_000
MAX_FILE_NAME_LENGTH = 100
MAX_IMAGE_DESCRIPTION_LENGTH = 256

# Limits of our own, for readability.
MAX_MENTIONS = 50  # people mentioned by one message
MAX_HEADING_LENGTH = 150  # a longer title becomes bold text
MAX_BOLD_HEADING_LENGTH = 600  # longer text is no heading
MAX_LIST_DEPTH = 8  # deeper lists are not indented further
PHONE_COLUMNS = 28  # monospaced columns that fit a phone's screen


@dataclass(frozen=True, slots=True)
class DiscordCredentials:
    """The bot's token and Discord's URLs; an empty URL means Discord's own."""

    token: str = field(repr=False)
    api_url: str = ""
    gateway_url: str = ""

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
