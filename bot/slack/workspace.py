"""The one workspace: the client, who we are in it, and what we may do there."""

from dataclasses import dataclass, field
from typing import Any

from aiolimiter import AsyncLimiter
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.calls import TIMEOUT_SECONDS, called
from bot.slack.edits import Edits
from bot.slack.people import People

CHAT = "slack"
# For a preview Slack would fetch whatever address a model wrote, with all that is in it.
UNFURLED: dict[str, Any] = {"unfurl_links": False, "unfurl_media": False}


@dataclass(frozen=True, slots=True)
class Pace:
    """How long Slack is waited for, and how fast it is spoken to."""

    timeout_seconds: float = TIMEOUT_SECONDS  # of one call
    ping_seconds: float = 5.0  # of a socket, and before it is opened anew
    late_seconds: float = 20.0  # how long after we gave an edit up Slack may still carry it out
    edit_seconds: float = 3.0  # Slack asks for no more edits of one message than that
    posts_at_once: int = 4  # a channel bears about one post a second, and some more for a moment
    posts_a_second: float = 1.0


SLACKS_OWN = Pace()


@dataclass(slots=True)
class Workspace:
    """A workspace; `scopes` is empty where Slack did not say what it granted."""

    client: AsyncWebClient
    team: str
    bot: str
    people: People
    scopes: frozenset[str] = frozenset()
    pace: Pace = SLACKS_OWN
    edits: Edits = field(default_factory=Edits)
    posts: dict[str, AsyncLimiter] = field(default_factory=dict)
    own: dict[str, str] = field(default_factory=dict)  # channels of people's direct messages

    def may(self, scope: str) -> bool:
        """Say whether a scope was granted, as far as is known."""
        return not self.scopes or scope in self.scopes

    def posts_in(self, channel: str) -> AsyncLimiter:
        """Give what paces the posts in a channel."""
        most = self.pace.posts_at_once
        return self.posts.setdefault(channel, AsyncLimiter(most, most / self.pace.posts_a_second))

    async def own_channel(self, user: str) -> str:
        """Give the channel of somebody's direct messages with the bot."""
        if user not in self.own:
            reply = await called(lambda: self.client.conversations_open(users=user), 1.0)
            self.own[user] = str(reply["channel"]["id"])
        return self.own[user]
