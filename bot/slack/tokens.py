"""What Slack is reached with. Imports none of Slack's libraries: every start asks for tokens."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Tokens:
    """What Slack is reached with; with `app` over a socket, else `signing` checks what it posts."""

    bot: str = field(repr=False)
    app: str = field(repr=False)
    signing: str = field(repr=False)
    api_url: str

    @property
    def transport(self) -> str:
        """Give the way events come in."""
        return "Socket Mode" if self.app else "HTTP at /slack/events"
