"""Before Slack is started: whether its tokens work, and what they allow."""

from collections.abc import Iterable
from dataclasses import dataclass

from slack_sdk.web.async_client import AsyncWebClient

from bot.chat import UnsureError
from bot.slack.calls import RefusedError, called
from council.errors import CouncilError

PATIENCE_SECONDS = 30.0
NEEDED = ("chat:write", "commands")
# What does not work without a scope.
FEATURES = {
    "app_mentions:read": "mentions are not heard",
    "channels:history": "threads of channels are not read",
    "channels:read": "channels shared with others cannot be told from ordinary ones",
    "files:read": "files of questions are not read",
    "files:write": "no files are posted",
    "groups:history": "threads of private channels are not read",
    "groups:read": "private channels cannot be told from others, and count as private",
    "im:history": "direct messages are not heard",
    "im:write": "no answer can be had for oneself alone",
    "users:read": "guests cannot be told from members, and names are not shown",
}
COPY_ANEW = (
    "SLACK_BOT_TOKEN does not work ({code}): copy the Bot User OAuth Token, which begins with "
    "xoxb-, anew."
)
REINSTALL = "add it under OAuth & Permissions and install the app again"


class SlackError(CouncilError):
    """Slack cannot be started, or cannot go on; says what to do."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the bot token is: a workspace, a bot in it, and what it was granted, if Slack said so."""

    team: str
    team_name: str
    user: str
    user_name: str
    bot: str
    scopes: frozenset[str]

    @property
    def faults(self) -> list[str]:
        """Say which scopes are missing without which nothing works."""
        return [f"The scope {scope} is missing: {REINSTALL}." for scope in self._without(NEEDED)]

    @property
    def warnings(self) -> list[str]:
        """Say what does not work for want of a scope."""
        return [
            f"Slack: {FEATURES[scope]}: {scope} is missing; {REINSTALL}."
            for scope in self._without(FEATURES)
        ]

    def _without(self, scopes: Iterable[str]) -> list[str]:
        return [scope for scope in scopes if self.scopes and scope not in self.scopes]


async def identity(client: AsyncWebClient) -> Identity:
    """Give who the bot token is; SlackError for one that does not work, or is no bot's.

    Raises UnsureError where Slack cannot be reached, or is asked too often.
    """
    try:
        reply = await called(lambda: client.auth_test(), PATIENCE_SECONDS)
    except RefusedError as error:
        raise _not_now(error) or SlackError(COPY_ANEW.format(code=error.code)) from None
    if not reply.get("bot_id"):  # a person's token, or the app's own
        raise SlackError(COPY_ANEW.format(code="it is no bot's"))
    granted = reply.headers.get("x-oauth-scopes", "")
    scopes = frozenset(scope.strip() for scope in granted.split(",") if scope.strip())
    return Identity(
        team=str(reply.get("team_id") or ""),
        team_name=str(reply.get("team") or ""),
        user=str(reply.get("user_id") or ""),
        user_name=str(reply.get("user") or ""),
        bot=str(reply["bot_id"]),
        scopes=scopes,
    )


async def check_app_token(client: AsyncWebClient, token: str) -> None:
    """Raise SlackError where no socket can be opened with an app token; UnsureError as above."""
    try:
        await called(lambda: client.apps_connections_open(app_token=token), PATIENCE_SECONDS)
    except RefusedError as error:
        needed = ", with the scope connections:write" if error.code == "missing_scope" else ""
        raise _not_now(error) or SlackError(
            f"SLACK_APP_TOKEN does not work ({error.code}): make an App-Level Token{needed}, which "
            "begins with xapp-, and switch on Socket Mode."
        ) from None


def _not_now(error: RefusedError) -> UnsureError | None:
    """Tell a refusal that says nothing of the token, and is worth another try later."""
    passing = error.code in {"ratelimited", "rate_limited"}
    return UnsureError("Slack is asked too often just now.") if passing else None
