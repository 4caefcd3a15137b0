"""What `council doctor` finds of Discord: its token, where it leads, and who can invite the bot."""

from collections.abc import AsyncIterator, Iterator

from bot.chat import UnsureError
from bot.cli.discord_address import discord_address
from bot.cli.finding import Finding
from bot.discord.app import CODE_GRANT, ELSEWHERE, Identity, identity
from bot.settings import Settings
from council.errors import CouncilError

DISCORDS_OWN = "Discord's own"


async def discord_findings(settings: Settings) -> AsyncIterator[Finding]:
    """Give what there is to know; no token leaves this machine but to Discord."""
    address = discord_address(settings)
    if address is None:
        yield Finding("Discord: no token", good=None)
        return
    try:
        me = await identity(address)
    except UnsureError as error:
        where = address.api_url or DISCORDS_OWN
        yield Finding(f"Discord: {error} Its address is {where}.", good=False)
    except CouncilError as error:
        yield Finding(f"Discord: {error}", good=False)
    else:
        for finding in _of(me):
            yield finding


def _of(me: Identity) -> Iterator[Finding]:
    servers = f"{me.servers} server{'s' * (me.servers != 1)}" if me.servers else "no server yet"
    yield Finding(f"Discord: {me.name}, in {servers}")
    if me.needs_code_grant:
        yield Finding(f"Discord: {CODE_GRANT}", good=False)
    else:
        who = "anybody may" if me.is_public else "its owner alone may"
        link = "`council discord invite` prints the link"
        yield Finding(f"Discord: {who} invite it; {link}")
    if me.hears_elsewhere:
        yield Finding(f"Discord: {ELSEWHERE}", good=False)
