"""Slack as a plug-in: its settings, checks, stores, and how it starts.

Imports none of Slack's libraries, because every start of the program reads the tokens.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from bot.chat import DeliveryUnknownError
from bot.chats import ChatPlugin, RunningChat
from bot.checks import CheckReport
from bot.context import AppContext
from bot.render.formatting import count_noun
from bot.settings import Settings, SettingsError
from bot.slack.config import Tokens, missing_token, read_tokens
from council.errors import CouncilError

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient


class SlackPlugin(ChatPlugin):
    """Slack over Socket Mode or HTTP."""

    title = "Slack"

    def missing(self, settings: Settings) -> str:
        """Return which token it lacks, or ""."""
        return "" if read_tokens(settings) else missing_token(settings) or "no token"

    async def check(self, report: CheckReport, settings: Settings) -> None:
        """Check Slack's tokens; only Slack receives a token."""
        tokens = read_tokens(settings)
        if tokens is None:
            missing = missing_token(settings)
            (report.fail if missing else report.note)(f"Slack: {missing or 'no token'}")
            return
        from bot.slack import client as slack  # not everyone has its packages

        hint = f" Its address is {tokens.api_url}."
        with report.failures("Slack", DeliveryUnknownError, hint):
            async with slack.open_client(tokens.api_url, tokens.bot) as client:
                with report.failures("Slack", slack.SlackError):
                    await _check_bot_token(report, client, tokens)
                with report.failures("Slack", slack.SlackError):
                    await _check_events(report, client, tokens)

    def start(
        self, app: AppContext, settings: Settings, report: Callable[[str], None]
    ) -> RunningChat:
        """Return Slack, ready to run."""
        from bot.slack.app import Slack  # its library takes a third of a second to import

        tokens = read_tokens(settings)
        if tokens is None:
            raise SettingsError([f"Slack: {self.missing(settings)}."])
        return Slack(app, tokens, report)


SLACK = SlackPlugin()


async def check_installations(report: CheckReport, app: AppContext, settings: Settings) -> None:
    """Check that the tokens of all installed workspaces can be decrypted."""
    if not settings.value("SLACK_CLIENT_SECRET"):
        return
    from storage.installations import SqlInstallationStore

    store, count = app.parts.get(SqlInstallationStore), 0
    for team in await store.list_team_ids():
        try:
            count += await store.async_find_bot(enterprise_id=None, team_id=team) is not None
        except CouncilError as error:
            report.fail(f"Slack: {error}")
            return
    report.ok(f"Slack: {count_noun(count, 'workspace')} installed the app")


async def _check_bot_token(report: CheckReport, client: "AsyncWebClient", tokens: Tokens) -> None:
    from bot.slack.client import fetch_identity

    if tokens.is_distributed:
        where = tokens.install_url or "your address and /slack/install"
        report.note(f"Slack: workspaces install the app at {where}")
        return
    me = await fetch_identity(client)
    report.ok(f"Slack: {me.user_name} in {me.team_name}, over {tokens.transport}")
    for fault in me.faults:
        report.fail(f"Slack: {fault}")
    for warning in me.warnings:
        report.note(warning)


async def _check_events(report: CheckReport, client: "AsyncWebClient", tokens: Tokens) -> None:
    from bot.slack.client import check_app_token

    if tokens.app:
        await check_app_token(client, tokens.app)
        report.ok("Slack: Socket Mode works")
    else:
        report.note("Slack: the signing secret is checked with the first request from Slack")
