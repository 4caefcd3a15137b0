"""One thing that `council doctor` looked at."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass

import typer
from slack_sdk.web.async_client import AsyncWebClient

from bot.bootstrap import StartOptions, find_houses, opened_app, surroundings
from bot.chat import DeliveryUnknownError
from bot.commands.context import AppContext
from bot.commands.schedules import lined
from bot.discord.app import CODE_GRANT, ELSEWHERE
from bot.discord.app import Identity as _discord_looked_over_Identity
from bot.discord.app import identity as _discord_looked_over_identity
from bot.discord.config import Address
from bot.render.schedules import moment
from bot.schedules.cron import in_words
from bot.settings import Seat, Settings, SettingsError, load_settings
from bot.settings.environment import key_name
from bot.slack.client import Identity, SlackError, check_app_token, identity, opened_client
from bot.slack.config import Tokens
from council.answers import Call, Prompt
from council.bakeoffs.models import Schedule
from council.errors import CouncilError, GatewayError
from council.panel import Member
from council.places import HOUSE
from council.providers import ProviderHealth

# --- One thing that `council doctor` looked at.


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found; `good` is None for what is merely worth knowing."""

    text: str
    good: bool | None = True


# --- What `council doctor` says of schedules: which come when, and which cannot run.


async def schedule_findings(app_context: AppContext, chats: set[str]) -> AsyncIterator[Finding]:
    """Give a finding for each schedule; `chats` are those that can be started."""
    for schedule in await app_context.bakeoff_stores.schedules.every():
        try:
            yield await _finding(app_context, schedule, chats)
        except (ValueError, KeyError, OSError):
            broken = f"its cron {schedule.cron!r} or its zone {schedule.zone!r} is not sound"
            yield _failed(schedule, f"{broken}: edit or remove it")


async def _finding(app_context: AppContext, schedule: Schedule, chats: set[str]) -> Finding:
    line = await lined(app_context, schedule)
    comes = f"{in_words(schedule.cron)}, next {moment(line.next_times[0])} {schedule.zone}"
    if line.fault:
        return _failed(schedule, f"cannot run: {line.fault}")
    if schedule.place.chat not in {*HOUSE, *chats}:
        return _failed(schedule, f"reports to {schedule.place.chat}, which has no token")
    if schedule.paused:
        return Finding(f"schedule {schedule.name}: paused", good=None)
    return Finding(f"schedule {schedule.name}: {comes}")


def _failed(schedule: Schedule, why: str) -> Finding:
    return Finding(f"schedule {schedule.name}: {why}", good=False)


# --- What Slack is reached with, and what of it is missing.


def slack_tokens(settings: Settings) -> Tokens | None:
    """Give what Slack is reached with; None where a token it needs is missing."""
    tokens = _found(settings)
    return tokens if tokens.bot and (tokens.app or tokens.signing) else None


def missing_of_slack(settings: Settings) -> str | None:
    """Say which token is missing beside those that are set; None where there is none at all."""
    tokens = _found(settings)
    if tokens.bot:
        return "SLACK_APP_TOKEN is missing, or SLACK_SIGNING_SECRET for HTTP"
    return "SLACK_BOT_TOKEN is missing" if tokens.app or tokens.signing else None


def _found(settings: Settings) -> Tokens:
    bot, app, signing = (
        secret.get_secret_value().strip() if secret else ""
        for secret in (
            settings.slack_bot_token,
            settings.slack_app_token,
            settings.slack_signing_secret,
        )
    )
    return Tokens(bot, app, signing, settings.slack_api_url)


# --- What `council doctor` finds of Slack: its tokens, where they lead, and what they allow.

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
    except DeliveryUnknownError as error:
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


# --- How Discord is reached, by the settings.


def discord_address(settings: Settings) -> Address | None:
    """Give how Discord is reached; None where there is no token."""
    token = settings.discord_token.get_secret_value().strip() if settings.discord_token else ""
    address = Address(token, settings.discord_api_url, settings.discord_gateway_url)
    return address if token else None


# --- What `council doctor` finds of Discord: its token, where it leads, and who can invite the bo

DISCORDS_OWN = "Discord's own"


async def discord_findings(settings: Settings) -> AsyncIterator[Finding]:
    """Give what there is to know; no token leaves this machine but to Discord."""
    address = discord_address(settings)
    if address is None:
        yield Finding("Discord: no token", good=None)
        return
    try:
        me = await _discord_looked_over_identity(address)
    except DeliveryUnknownError as error:
        where = address.api_url or DISCORDS_OWN
        yield Finding(f"Discord: {error} Its address is {where}.", good=False)
    except CouncilError as error:
        yield Finding(f"Discord: {error}", good=False)
    else:
        for finding in _of(me):
            yield finding


def _of(me: _discord_looked_over_Identity) -> Iterator[Finding]:
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


# --- `council doctor`: what works, what does not, and what to do about it.

PING = Prompt("Reply with one word.", "Say ok.")
PATIENCE_SECONDS = 60  # as long as a stage is open, where a panel says nothing else


async def examine(tell: Callable[[str], None], *, live: bool) -> None:
    """Print every finding; `tell` hears what is wrong."""
    async for finding in _findings(live=live):
        mark = {True: "ok  ", False: "FAIL", None: "    "}[finding.good]
        typer.echo(f"{mark} {finding.text}")
        if finding.good is False:
            tell(finding.text)


async def _findings(*, live: bool) -> AsyncIterator[Finding]:
    try:
        settings = load_settings()
        yield Finding(f"settings read; data in {settings.data_dir}")
        async for finding in slack_findings(settings):
            yield finding
        async for finding in discord_findings(settings):
            yield finding
        async for finding in _app_findings(settings, live=live):
            yield finding
    except SettingsError as error:
        for fault in error.faults:
            yield Finding(fault, good=False)
    except CouncilError as error:
        yield Finding(str(error), good=False)


async def _app_findings(settings: Settings, *, live: bool) -> AsyncIterator[Finding]:
    for fact in await surroundings(settings):
        yield Finding(fact, good=None)
    seats = (await find_houses(settings, local=False)).seats
    async with opened_app(settings, StartOptions()) as app_context:
        yield Finding("database opens, its schema is up to date")
        for provider in app_context.health().providers:
            yield Finding(_limits(provider), good=None)
        if not app_context.panels:
            yield Finding(
                "no panel: write council.toml or set the keys of two providers", good=False
            )
        for name, panel in app_context.panels.items():
            in_use = ", in use" if name == app_context.default else ""
            yield Finding(f"panel {name}: {len(panel.members)} members{in_use}")
            await app_context.prepare(panel)
            for seat in dict.fromkeys((*panel.judges, *panel.chairmen)):
                yield _keyless(settings, seats[seat.key]) or await _seat_finding(
                    app_context, seat, live=live
                )
        async for finding in schedule_findings(app_context, _chats(settings)):
            yield finding


def _chats(settings: Settings) -> set[str]:
    """Give the chats that have their tokens."""
    found = {"slack": slack_tokens(settings), "discord": discord_address(settings)}
    return {name for name, tokens in found.items() if tokens}


def _keyless(settings: Settings, seat: Seat) -> Finding | None:
    """Say which key a seat lacks; None where it has one, or needs none."""
    provider = seat.member.model_id.partition("/")[0]
    named = seat.section.api_key_env
    if seat.member.receiver or provider == "scripted" or settings.key_for(provider, named):
        return None
    return Finding(f"{seat.member.key}: no key; set {named or key_name(provider)}", good=False)


async def _seat_finding(app_context: AppContext, seat: Member, *, live: bool) -> Finding:
    if not live:
        return Finding(f"{seat.key}: not called (--live spends one tiny call)", good=None)
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            reply = await app_context.gateway.complete(Call(seat, PING))
    except GatewayError as error:
        return Finding(f"{seat.key} {error}", good=False)
    except TimeoutError as error:
        why = getattr(error.__cause__, "__notes__", ())
        said = "; ".join((f"did not answer in {PATIENCE_SECONDS} s", *why))
        return Finding(f"{seat.key} {said}", good=False)
    attempts = f", at attempt {reply.attempts}" if reply.attempts > 1 else ""
    return Finding(f"{seat.key} answers in {reply.seconds:.1f} s{attempts}")


def _limits(provider: ProviderHealth) -> str:
    """Say how hard a provider is called."""
    where = f" at {provider.address}" if provider.address else ""
    limits = provider.limits
    pace = f", {limits.requests_per_minute} a minute" if limits.requests_per_minute else ""
    many = f"{limits.concurrency} calls at once" if limits.concurrency > 1 else "one call at a time"
    return f"{provider.provider or 'unknown provider'}{where}: {many}{pace}"
