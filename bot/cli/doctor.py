"""The command `council doctor`: health checks of settings, tokens, database and models."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Annotated

import typer
from slack_sdk.web.async_client import AsyncWebClient

from bot.bootstrap import describe_local_models, load_panels, open_app
from bot.chat import DeliveryUnknownError
from bot.cli.output import FAILED, async_command
from bot.cli.tokens import discord_address, missing_slack_token, slack_tokens
from bot.commands.schedules import load_schedule_status
from bot.context import AppContext
from bot.discord import app as discord
from bot.render.schedules import format_moment
from bot.schedules.cron import describe_cron
from bot.settings import Seat, Settings, SettingsError, load_settings
from bot.settings.environment import api_key_variable
from bot.settings.panels import is_built_in
from bot.slack.client import Identity, SlackError, check_app_token, fetch_identity, open_client
from bot.slack.config import Tokens
from council.answers import Call, Prompt
from council.bakeoffs.models import Schedule
from council.errors import CouncilError, GatewayError
from council.panel import Member
from council.places import LOCAL_CHATS
from council.providers import ProviderHealth

PING = Prompt("Reply with one word.", "Say ok.")
PING_TIMEOUT_SECONDS = 60  # the default of a stage
OVER_HTTP = "Slack: the signing secret is checked with the first thing that Slack posts"


@async_command
async def doctor(
    live: Annotated[
        bool, typer.Option("--live", help="Spend one tiny call on each model.")
    ] = False,
) -> None:
    """Check settings, database and models."""
    is_healthy = True
    async for finding in _findings(live=live):
        mark = {True: "ok  ", False: "FAIL", None: "    "}[finding.is_good]
        typer.echo(f"{mark} {finding.text}")
        is_healthy = is_healthy and finding.is_good is not False
    if not is_healthy:
        raise typer.Exit(FAILED)


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check; `is_good` is None for mere information."""

    text: str
    is_good: bool | None = True


async def _findings(*, live: bool) -> AsyncIterator[Finding]:
    try:
        settings = load_settings()
        yield Finding(f"settings read; data in {settings.data_dir}")
        async for finding in _slack_findings(settings):
            yield finding
        async for finding in _discord_findings(settings):
            yield finding
        async for finding in _app_findings(settings, live=live):
            yield finding
    except SettingsError as error:
        for fault in error.faults:
            yield Finding(fault, is_good=False)
    except CouncilError as error:
        yield Finding(str(error), is_good=False)


# --- Slack and Discord


async def _slack_findings(settings: Settings) -> AsyncIterator[Finding]:
    """Check Slack's tokens; only Slack receives a token, and nothing is posted."""
    tokens = slack_tokens(settings)
    if tokens is None:
        missing = missing_slack_token(settings)
        yield Finding(f"Slack: {missing or 'no token'}", is_good=False if missing else None)
        return
    try:
        async with open_client(tokens.api_url, tokens.bot) as client:
            for finding in await _bot_token_findings(client, tokens):
                yield finding
            yield await _event_finding(client, tokens)
    except DeliveryUnknownError as error:
        yield Finding(f"Slack: {error} Its address is {tokens.api_url}.", is_good=False)


async def _bot_token_findings(client: AsyncWebClient, tokens: Tokens) -> list[Finding]:
    try:
        me = await fetch_identity(client)
    except SlackError as error:
        return [Finding(f"Slack: {error}", is_good=False)]
    return [
        Finding(f"Slack: {me.user_name} in {me.team_name}, over {tokens.transport}"),
        *_scope_findings(me),
    ]


def _scope_findings(me: Identity) -> list[Finding]:
    missing = [Finding(f"Slack: {fault}", is_good=False) for fault in me.faults]
    return missing + [Finding(warning, is_good=None) for warning in me.warnings]


async def _event_finding(client: AsyncWebClient, tokens: Tokens) -> Finding:
    if not tokens.app:
        return Finding(OVER_HTTP, is_good=None)
    try:
        await check_app_token(client, tokens.app)
    except SlackError as error:
        return Finding(f"Slack: {error}", is_good=False)
    return Finding("Slack: a socket can be opened")


async def _discord_findings(settings: Settings) -> AsyncIterator[Finding]:
    """Check Discord's token; only Discord receives it."""
    address = discord_address(settings)
    if address is None:
        yield Finding("Discord: no token", is_good=None)
        return
    try:
        me = await discord.fetch_identity(address)
    except DeliveryUnknownError as error:
        where = address.api_url or "Discord's own"
        yield Finding(f"Discord: {error} Its address is {where}.", is_good=False)
    except CouncilError as error:
        yield Finding(f"Discord: {error}", is_good=False)
    else:
        for finding in _discord_identity_findings(me):
            yield finding


def _discord_identity_findings(me: discord.Identity) -> Iterator[Finding]:
    servers = f"{me.servers} server{'s' * (me.servers != 1)}" if me.servers else "no server yet"
    yield Finding(f"Discord: {me.name}, in {servers}")
    if me.needs_code_grant:
        yield Finding(f"Discord: {discord.CODE_GRANT_REQUIRED}", is_good=False)
    else:
        who = "anybody may" if me.is_public else "its owner alone may"
        link = "`council discord invite` prints the link"
        yield Finding(f"Discord: {who} invite it; {link}")
    if me.has_interactions_endpoint:
        yield Finding(f"Discord: {discord.ENDPOINT_URL_IS_SET}", is_good=False)


# --- Database, panels, models and schedules


async def _app_findings(settings: Settings, *, live: bool) -> AsyncIterator[Finding]:
    for fact in await describe_local_models(settings):
        yield Finding(fact, is_good=None)
    seats = (await load_panels(settings, local=False)).seats
    async with open_app(settings) as app_context:
        yield Finding("database opens, its schema is up to date")
        for provider in app_context.health().providers:
            yield Finding(_limits(provider), is_good=None)
        if not app_context.panels:
            yield Finding(
                "no panel: write council.toml or set the keys of two providers", is_good=False
            )
        for name, panel in app_context.panels.items():
            in_use = ", in use" if name == app_context.default else ""
            yield Finding(f"panel {name}: {len(panel.members)} members{in_use}")
            await app_context.prepare(panel)
            for seat in dict.fromkeys((*panel.judges, *panel.chairmen)):
                yield _missing_key(settings, seats[seat.key]) or await _call_finding(
                    app_context, seat, live=live
                )
        async for finding in _schedule_findings(app_context, _configured_chats(settings)):
            yield finding


def _limits(provider: ProviderHealth) -> str:
    """Describe the rate limits of a provider."""
    where = f" at {provider.address}" if provider.address else ""
    limits = provider.limits
    pace = f", {limits.requests_per_minute} a minute" if limits.requests_per_minute else ""
    many = f"{limits.concurrency} calls at once" if limits.concurrency > 1 else "one call at a time"
    return f"{provider.provider or 'unknown provider'}{where}: {many}{pace}"


def _missing_key(settings: Settings, seat: Seat) -> Finding | None:
    """Return a finding if a seat lacks the API key that it needs."""
    provider = seat.member.model_id.partition("/")[0]
    named = seat.section.api_key_env
    if is_built_in(seat.member) or seat.member.receiver or settings.key_for(provider, named):
        return None
    variable = named or api_key_variable(provider)
    return Finding(f"{seat.member.key}: no key; set {variable}", is_good=False)


async def _call_finding(app_context: AppContext, seat: Member, *, live: bool) -> Finding:
    """Call a model once, if `live`."""
    if not live:
        return Finding(f"{seat.key}: not called (--live spends one tiny call)", is_good=None)
    try:
        async with asyncio.timeout(PING_TIMEOUT_SECONDS):
            reply = await app_context.gateway.complete(Call(seat, PING))
    except GatewayError as error:
        return Finding(f"{seat.key} {error}", is_good=False)
    except TimeoutError as error:
        notes = getattr(error.__cause__, "__notes__", ())
        why = "; ".join((f"did not answer in {PING_TIMEOUT_SECONDS} s", *notes))
        return Finding(f"{seat.key} {why}", is_good=False)
    attempts = f", at attempt {reply.attempts}" if reply.attempts > 1 else ""
    return Finding(f"{seat.key} answers in {reply.seconds:.1f} s{attempts}")


def _configured_chats(settings: Settings) -> set[str]:
    """Return the chats that have their tokens."""
    found = {"slack": slack_tokens(settings), "discord": discord_address(settings)}
    return {name for name, tokens in found.items() if tokens}


async def _schedule_findings(app_context: AppContext, chats: set[str]) -> AsyncIterator[Finding]:
    """Check each schedule; `chats` are those that can be started."""
    for schedule in await app_context.bakeoff_stores.schedules.list_all():
        try:
            yield await _schedule_finding(app_context, schedule, chats)
        except (ValueError, KeyError, OSError):
            broken = f"its cron {schedule.cron!r} or its zone {schedule.zone!r} is not sound"
            yield _failed_schedule(schedule, f"{broken}: edit or remove it")


async def _schedule_finding(
    app_context: AppContext, schedule: Schedule, chats: set[str]
) -> Finding:
    status = await load_schedule_status(app_context, schedule)
    next_time = f"{format_moment(status.next_times[0])} {schedule.zone}"
    times = f"{describe_cron(schedule.cron)}, next {next_time}"
    if status.fault:
        return _failed_schedule(schedule, f"cannot run: {status.fault}")
    if schedule.place.chat not in {*LOCAL_CHATS, *chats}:
        return _failed_schedule(schedule, f"reports to {schedule.place.chat}, which has no token")
    if schedule.paused:
        return Finding(f"schedule {schedule.name}: paused", is_good=None)
    return Finding(f"schedule {schedule.name}: {times}")


def _failed_schedule(schedule: Schedule, why: str) -> Finding:
    return Finding(f"schedule {schedule.name}: {why}", is_good=False)
