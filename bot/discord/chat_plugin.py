"""Discord as a plug-in: its checks, job queues, and how it starts.

Imports nothing of Discord's library, because every start of the program reads the token.
"""

from collections.abc import Callable

from bot.chat import DeliveryUnknownError
from bot.chats import ChatPlugin, RunningChat
from bot.checks import CheckReport
from bot.context import AppContext
from bot.discord.config import read_credentials
from bot.render.formatting import count_noun
from bot.settings import Settings, SettingsError


class DiscordPlugin(ChatPlugin):
    """Discord over its gateway."""

    title = "Discord"

    def missing(self, settings: Settings) -> str:
        """Return that there is no token, or ""."""
        return "" if read_credentials(settings) else "no token"

    async def check(self, report: CheckReport, settings: Settings) -> None:
        """Check Discord's token; only Discord receives it."""
        credentials = read_credentials(settings)
        if credentials is None:
            report.note("Discord: no token")
            return
        from bot.discord import app as discord  # not everyone has its packages

        where = credentials.api_url or "Discord's own"
        hint = f" Its address is {where}."
        unreachable = report.failures("Discord", DeliveryUnknownError, hint)
        with report.failures("Discord"), unreachable:
            me = await discord.fetch_identity(credentials)
            servers = count_noun(me.servers, "server") if me.servers else "no server yet"
            report.ok(f"Discord: {me.name}, in {servers}")
            if me.needs_code_grant:
                report.fail(f"Discord: {discord.CODE_GRANT_REQUIRED}")
            else:
                who = "anyone may" if me.is_public else "only its owner may"
                report.ok(f"Discord: {who} invite it; `council discord invite` prints the link")
            if me.has_interactions_endpoint:
                report.fail(f"Discord: {discord.ENDPOINT_URL_IS_SET}")

    def start(
        self, app: AppContext, settings: Settings, report: Callable[[str], None]
    ) -> RunningChat:
        """Return Discord, ready to run."""
        from bot.discord.app import Discord  # its library takes a third of a second to import

        credentials = read_credentials(settings)
        if credentials is None:
            raise SettingsError([f"Discord: {self.missing(settings)}."])
        return Discord(app, credentials, report)


DISCORD = DiscordPlugin()
