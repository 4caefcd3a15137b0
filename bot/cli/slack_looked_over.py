"""What `council doctor` finds of Slack: its tokens, where they lead, and what they allow."""

from collections.abc import AsyncIterator

from slack_sdk.web.async_client import AsyncWebClient

from bot.chat import UnsureError
from bot.cli.finding import Finding
from bot.cli.slack_tokens import missing_of_slack, slack_tokens
from bot.settings import Settings
from bot.slack.client import Identity, SlackError, check_app_token, identity, opened_client
from bot.slack.config import Tokens

OVER_HTTP = "Slack: the signing secret is checked with the first thing that Slack posts"


async def slack_findings(settings: Settings) -> AsyncIterator[Finding]:
    """Give what there is to know; no token, and nothing said, leaves this machine but to Slack."""
    tokens = slack_tokens(settings)
    if tokens is None:
        missing = missing_of_slack(settings)
        yield Finding(f"Slack: {missing or 'no token'}", good=False if missing else None)
        return
    try:
        async with opened_client(tokens.api_url, tokens.bot) as client:
            for finding in (*await _of_bot_token(client, tokens), await _of_events(client, tokens)):
                yield finding
    except UnsureError as error:
        yield Finding(f"Slack: {error} Its address is {tokens.api_url}.", good=False)


async def _of_bot_token(client: AsyncWebClient, tokens: Tokens) -> list[Finding]:
    try:
        me = await identity(client)
    except SlackError as error:
        return [Finding(f"Slack: {error}", good=False)]
    return [
        Finding(f"Slack: {me.user_name} in {me.team_name}, over {tokens.transport}"),
        *_of_scopes(me),
    ]


def _of_scopes(me: Identity) -> list[Finding]:
    missing = [Finding(f"Slack: {fault}", good=False) for fault in me.faults]
    return missing + [Finding(warning, good=None) for warning in me.warnings]


async def _of_events(client: AsyncWebClient, tokens: Tokens) -> Finding:
    if not tokens.app:
        return Finding(OVER_HTTP, good=None)
    try:
        await check_app_token(client, tokens.app)
    except SlackError as error:
        return Finding(f"Slack: {error}", good=False)
    return Finding("Slack: a socket can be opened")
