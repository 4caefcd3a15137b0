"""How Discord is reached."""

from dataclasses import dataclass, field

# --- How Discord is reached.


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


# --- What Discord takes, in Discord's own numbers, and the margins we keep to them.

COMPONENTS = 40  # of one message, nested ones counted
TEXT = 4_000  # characters of all texts of one message
# Discord fails beyond 10,170 of these, so that a message of emoji is refused before 4,000.
WEIGHT = 10_000
WEIGHT_OF_TEXT = 12  # what a text counts for beside its bytes

ROW = 5
BUTTON_LABEL = 80
CUSTOM_ID = 100
URL = 2_000
FILE_NAME = 100
DESCRIPTION = 256  # of a picture
CALLED = 50  # our own: people one message calls

HEADING = 150  # our own: a longer title is bold text
BOLD_HEADING = 600  # our own: more than this is no heading
LIST_DEPTH = 8  # our own: deeper lists stay there
NARROW = 28  # columns of a font of one width that a phone shows
