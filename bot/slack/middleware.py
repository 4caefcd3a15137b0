"""The Bolt app: authorization of each request's workspace, and the events of its installation."""

import logging
from collections.abc import Awaitable, Callable

import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.authorization.async_authorize import AsyncAuthorize
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_sdk.web.async_client import AsyncWebClient

from bot.observability.logs import redirect_library_log
from bot.slack.config import Tokens
from bot.slack.events import Body
from bot.slack.installations import Installations
from council.errors import CouncilError, StoreError

NOT_INSTALLED = (
    "The council is not installed in this workspace, so nothing was asked and nothing was "
    "spent. Ask an administrator to install it"
)

Next = Callable[[], Awaitable[None]]


def new_bolt(
    installations: Installations,
    client: AsyncWebClient,
    tokens: Tokens,
    oauth_flow: AsyncOAuthFlow | None,
) -> AsyncApp:
    """Return the Bolt app, which refuses a request whose workspace has not installed it."""
    where = f" at {tokens.install_url}." if tokens.install_url else "."
    bolt = AsyncApp(
        name=__name__,  # or Bolt looks for the caller in every module, for a tenth of a second
        logger=redirect_library_log(__name__, logging.ERROR, "slack_trouble"),
        client=client,
        signing_secret=tokens.signing,
        before_authorize=name_team,
        authorize=_Authorize(installations),  # type: ignore[arg-type]  # Bolt takes both
        oauth_flow=oauth_flow,
        user_facing_authorize_error_message=NOT_INSTALLED + where,
        # Acknowledge an event only after its listener, which has stored its round by then.
        process_before_response=True,
    )

    async def attach_workspace(context: AsyncBoltContext, next_: Next) -> None:
        """Add the workspace to the arguments of listeners; the events below may have none."""
        context["workspace"] = installations.connected.get(context.team_id or "")
        await next_()

    async def on_uninstalled(context: AsyncBoltContext) -> None:
        await installations.uninstall(*_ids(context))

    async def on_tokens_revoked(context: AsyncBoltContext, event: Body) -> None:
        if (event.get("tokens") or {}).get("bot"):  # those of users do not matter
            await installations.revoke(*_ids(context))

    async def on_access_revoked(event: Body) -> None:
        for team in event.get("team_ids") or ():
            await installations.uninstall(str(team), "")

    bolt.use(attach_workspace)
    bolt.event("app_uninstalled")(on_uninstalled)
    bolt.event("tokens_revoked")(on_tokens_revoked)
    bolt.event("team_access_revoked")(on_access_revoked)
    return bolt


async def name_team(context: AsyncBoltContext, body: Body, next_: Next) -> None:
    """Find the workspace where Bolt found none, as in some requests of a whole organisation."""
    if not str(context.team_id or "").startswith("T"):
        for part in (body, body.get("view"), body.get("user")):
            team = part.get("team_id") if isinstance(part, dict) else None
            if isinstance(team, str) and team.startswith("T"):
                context["team_id"] = team
                break
    await next_()


class _Authorize(AsyncAuthorize):
    """Bolt's authorization, by the connected workspaces; it calls no method of Slack."""

    def __init__(self, installations: Installations) -> None:
        self._installations = installations

    async def __call__(
        self,
        *,
        context: AsyncBoltContext,
        enterprise_id: str | None,
        team_id: str | None,
        user_id: str | None,
        **_: str | None,
    ) -> AuthorizeResult | None:
        """Return None, so that Bolt refuses the request, if its team has not installed the app."""
        try:
            workspace = await self._installations.find(
                team_id or "",
                enterprise_id,
                is_enterprise_install=bool(context.is_enterprise_install),
            )
        except StoreError:
            raise
        except CouncilError as error:  # its token cannot be decrypted
            structlog.get_logger().warning("slack_token_unreadable", team=team_id, why=str(error))
            return None
        if workspace is None:
            return None
        return AuthorizeResult(
            enterprise_id=enterprise_id,
            team_id=workspace.team,
            bot_user_id=workspace.bot_user,
            bot_id=workspace.bot_id,
            bot_token=workspace.client.token,
        )


def _ids(context: AsyncBoltContext) -> tuple[str, str]:
    """Return the workspace that an event is about, or else its organisation; "" for the other."""
    team, enterprise = str(context.team_id or ""), str(context.enterprise_id or "")
    is_all = bool(context.is_enterprise_install) or not team
    return ("", enterprise) if is_all and enterprise else (team, "")
