"""The one workspace: the client, who we are in it, and what we may do there."""

from dataclasses import dataclass, field

from aiolimiter import AsyncLimiter
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.calls import called
from bot.slack.edits import Edits
from bot.slack.people import People

CHAT = "slack"
POSTS_BURST = 4  # a channel bears about one post a second, and some more for a moment


@dataclass(slots=True)
class Workspace:
    """A workspace; `scopes` is empty where Slack did not say what it granted."""

    client: AsyncWebClient
    team: str
    bot: str
    people: People
    scopes: frozenset[str] = frozenset()
    edits: Edits = field(default_factory=Edits)
    posts: dict[str, AsyncLimiter] = field(default_factory=dict)
    own: dict[str, str] = field(default_factory=dict)  # channels of people's direct messages

    def may(self, scope: str) -> bool:
        """Say whether a scope was granted, as far as is known."""
        return not self.scopes or scope in self.scopes

    def posts_in(self, channel: str) -> AsyncLimiter:
        """Give what paces the posts in a channel."""
        return self.posts.setdefault(channel, AsyncLimiter(POSTS_BURST, POSTS_BURST))

    async def own_channel(self, user: str) -> str:
        """Give the channel of somebody's direct messages with the bot."""
        if user not in self.own:
            reply = await called(lambda: self.client.conversations_open(users=user), 1.0)
            self.own[user] = str(reply["channel"]["id"])
        return self.own[user]
