"""Who the bot is, and what keeps Discord from letting it in, in sentences that say what to do."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import discord

from bot.discord.address import Address
from bot.discord.faults import told
from bot.discord.library_logs import hear_library
from council.errors import CouncilError

PATIENCE_SECONDS = 30.0
INTENTS = discord.Intents(guilds=True)  # nothing is heard, but the library asks for some
BAD_TOKEN, TOO_MANY_SERVERS, DISALLOWED_INTENTS = 4004, 4011, 4014
COPY_ANEW = (
    "DISCORD_TOKEN does not work: choose Reset Token on the Bot page of your application, and copy "
    "the new one."
)
# Why Discord closes the gateway for good, and no further try would help.
CLOSED = {
    BAD_TOKEN: f"Discord takes DISCORD_TOKEN no more ({BAD_TOKEN}): choose Reset Token on the Bot "
    "page of your application, set the new one, and start again.",
    TOO_MANY_SERVERS: "The bot is in more servers than one connection may serve "
    f"({TOO_MANY_SERVERS}): run another application for some of them.",
    DISALLOWED_INTENTS: "Discord does not let the bot hear what it wants to hear "
    f"({DISALLOWED_INTENTS}, disallowed intents): it wants none that is privileged, so please "
    "report it.",
}
CLOSED_OTHERWISE = "Discord closed the connection for good ({code}): please report it."
ELSEWHERE = (
    "Commands and buttons go elsewhere: empty Interactions Endpoint URL under General Information "
    "of your application."
)
CODE_GRANT = (
    "Nobody can invite the bot: switch off Requires OAuth2 Code Grant on the Bot page of your "
    "application."
)


class DiscordError(CouncilError):
    """Discord cannot be started, or cannot go on; says what to do."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a token is: an application and its bot, as their owner set them up."""

    application: int
    name: str
    servers: int
    is_public: bool
    needs_code_grant: bool
    hears_elsewhere: bool


async def identity(address: Address) -> Identity:
    """Give who the token is; DiscordError for one that does not work.

    Raises UnsureError where Discord cannot be reached, or is asked too often.
    """
    hear_library()
    address.point()
    with let_in():
        async with asyncio.timeout(PATIENCE_SECONDS), discord.Client(intents=INTENTS) as client:
            await client.login(address.token)
            return identity_of(client)


def identity_of(client: discord.Client) -> Identity:
    """Give who a client is that is logged in."""
    app = client.application
    if app is None:
        raise DiscordError(COPY_ANEW)
    return Identity(
        application=app.id,
        name=str(client.user),
        servers=app.approximate_guild_count,
        is_public=app.bot_public,
        needs_code_grant=app.bot_require_code_grant,
        hears_elsewhere=bool(app.interactions_endpoint_url),
    )


@contextmanager
def let_in() -> Iterator[None]:
    """Raise DiscordError where Discord does not let the bot in, and other errors as `told` does."""
    try:
        with told():
            yield
    except discord.LoginFailure:
        raise DiscordError(COPY_ANEW) from None
    except discord.PrivilegedIntentsRequired:
        raise DiscordError(CLOSED[DISALLOWED_INTENTS]) from None
    except discord.ConnectionClosed as error:
        why = CLOSED.get(error.code) or CLOSED_OTHERWISE.format(code=error.code)
        raise DiscordError(why) from None
