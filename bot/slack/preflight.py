"""Before Slack is started: whether its tokens work, and what they allow."""

from dataclasses import dataclass

from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.calls import RefusedError, called
from council.errors import CouncilError

PATIENCE_SECONDS = 30.0
NEEDED = ("chat:write", "commands")
# What does not work without a scope.
FEATURES = {
    "app_mentions:read": "mentions are not heard",
    "channels:history": "threads of channels are not read",
    "channels:read": "channels shared with others cannot be told from ordinary ones",
    "files:write": "no files are posted",
    "groups:history": "threads of private channels are not read",
    "groups:read": "private channels cannot be told from others, and count as private",
    "im:history": "direct messages are not heard",
    "im:write": "no answer can be had for oneself alone",
    "users:read": "guests cannot be told from members, and names are not shown",
}
REINSTALL = "add it under OAuth & Permissions and install the app again"


class SlackError(CouncilError):
    """Slack cannot be started, or cannot go on; says what to do."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the bot token is: a workspace, a bot in it, and what it was granted, if Slack said so."""

    team: str
    team_name: str
    user: str
    scopes: frozenset[str]

    @property
    def warnings(self) -> list[str]:
        """Say what does not work for want of a scope."""
        if not self.scopes:
            return []
        missing = [scope for scope in FEATURES if scope not in self.scopes]
        return [f"Slack: {FEATURES[scope]}: {scope} is missing; {REINSTALL}." for scope in missing]


async def identity(client: AsyncWebClient) -> Identity:
    """Give who the bot token is; SlackError for one that does not work, or is granted too little.

    Raises UnsureError where Slack cannot be reached.
    """
    try:
        reply = await called(lambda: client.auth_test(), PATIENCE_SECONDS)
    except RefusedError as error:
        raise SlackError(
            f"SLACK_BOT_TOKEN does not work ({error.code}): copy the Bot User OAuth Token, which "
            "begins with xoxb-, anew."
        ) from None
    granted = reply.headers.get("x-oauth-scopes", "")
    scopes = frozenset(scope.strip() for scope in granted.split(",") if scope.strip())
    missing = [scope for scope in NEEDED if scopes and scope not in scopes]
    if missing:
        raise SlackError(f"The scope {missing[0]} is missing: {REINSTALL}.")
    team, name, user = (str(reply.get(key) or "") for key in ("team_id", "team", "user_id"))
    return Identity(team, name, user, scopes)


async def check_app_token(client: AsyncWebClient, token: str) -> None:
    """Raise SlackError where no socket can be opened with an app token."""
    try:
        await called(lambda: client.apps_connections_open(app_token=token), PATIENCE_SECONDS)
    except RefusedError as error:
        needed = ", with the scope connections:write" if error.code == "missing_scope" else ""
        raise SlackError(
            f"SLACK_APP_TOKEN does not work ({error.code}): make an App-Level Token{needed}, which "
            "begins with xapp-, and switch on Socket Mode."
        ) from None
