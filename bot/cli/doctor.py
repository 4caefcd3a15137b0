"""The command `council doctor`: health checks of settings, tokens, database and models."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from bot.bakeoffs.commands.schedules import load_schedule_status
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.render.schedules import describe_cron, format_moment
from bot.bootstrap import PING, describe_local_models, find_panels, open_app
from bot.chat import DeliveryUnknownError
from bot.cli.output import FAILED, async_command
from bot.cli.tokens import discord_address, missing_slack_token, slack_tokens
from bot.context import AppContext
from bot.render.formatting import count_noun, join_words
from bot.settings import Seat, Settings, SettingsError, load_settings
from bot.settings.connections import read_document
from bot.settings.environment import api_key_variable
from bot.settings.panels import is_built_in
from bot.settings.provider_keys import KEYS_FILE, addresses_of
from bot.slack.config import Tokens
from council.answers import Call
from council.bakeoffs.models import Schedule
from council.errors import CouncilError, GatewayError
from council.methods import BLIND_RANKING, BOTH_ORDERS
from council.panel import Member, Panel
from council.places import LOCAL_CHATS
from council.providers import ProviderHealth
from council.tally.verdict import outside_judges_needed, unanimity_p

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient

PING_TIMEOUT_SECONDS = 60  # the default of a stage

FEW_JUDGES = 3


@async_command
async def doctor(
    live: Annotated[bool, typer.Option("--live", help="Make one tiny call to each model.")] = False,
) -> None:
    """Check settings, tokens, database and models."""
    report = _Report()
    try:
        settings = load_settings()
        report.ok(f"settings read; data in {settings.data_dir}")
        _check_keys(report, settings)
        await _check_slack(report, settings)
        await _check_discord(report, settings)
        await _check_app(report, settings, live=live)
    except SettingsError as error:
        for fault in error.faults:
            report.fail(fault)
    except CouncilError as error:
        report.fail(str(error))
    if not report.is_healthy:
        raise typer.Exit(FAILED)


class _Report:
    """Prints findings as they come, and remembers whether all is well."""

    def __init__(self) -> None:
        self.is_healthy = True

    def ok(self, text: str) -> None:
        typer.echo(f"ok   {text}")

    def note(self, text: str) -> None:
        typer.echo(f"     {text}")

    def fail(self, text: str) -> None:
        self.is_healthy = False
        typer.echo(f"FAIL {text}")

    @contextmanager
    def failures(
        self, chat: str, kind: type[CouncilError] = CouncilError, hint: str = ""
    ) -> Iterator[None]:
        """Report an error of this kind in the block, with a hint."""
        try:
            yield
        except kind as error:
            self.fail(f"{chat}: {error}{hint}")


# --- Keys that were entered on the page


def _check_keys(report: _Report, settings: Settings) -> None:
    """Name the keys of an earlier version that could belong to several addresses, or to none."""
    connected = read_document(settings.data_dir)
    for name in settings.connected_keys.ambiguous:
        if addresses := addresses_of(name, connected):
            places = join_words(map(str, addresses))
            report.fail(
                f"{KEYS_FILE}: the key of {name} is not used, because an earlier version used it "
                f"for several addresses: {places}. Connect each of them again with its own key, or "
                f"remove {name} from {KEYS_FILE} if they need none."
            )
        else:
            report.note(f"{KEYS_FILE}: no model uses the key of {name}; remove it")


# --- Slack and Discord


async def _check_slack(report: _Report, settings: Settings) -> None:
    """Check Slack's tokens; only Slack receives a token, and nothing is posted."""
    tokens = slack_tokens(settings)
    if tokens is None:
        missing = missing_slack_token(settings)
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


async def _check_bot_token(report: _Report, client: "AsyncWebClient", tokens: Tokens) -> None:
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


async def _check_events(report: _Report, client: "AsyncWebClient", tokens: Tokens) -> None:
    from bot.slack.client import check_app_token

    if tokens.app:
        await check_app_token(client, tokens.app)
        report.ok("Slack: Socket Mode works")
    else:
        report.note("Slack: the signing secret is checked with the first request from Slack")


async def _check_discord(report: _Report, settings: Settings) -> None:
    """Check Discord's token; only Discord receives it."""
    address = discord_address(settings)
    if address is None:
        report.note("Discord: no token")
        return
    from bot.discord import app as discord

    where = address.api_url or "Discord's own"
    hint = f" Its address is {where}."
    unreachable = report.failures("Discord", DeliveryUnknownError, hint)
    with report.failures("Discord"), unreachable:
        me = await discord.fetch_identity(address)
        servers = count_noun(me.servers, "server") if me.servers else "no server yet"
        report.ok(f"Discord: {me.name}, in {servers}")
        if me.needs_code_grant:
            report.fail(f"Discord: {discord.CODE_GRANT_REQUIRED}")
        else:
            who = "anyone may" if me.is_public else "only its owner may"
            report.ok(f"Discord: {who} invite it; `council discord invite` prints the link")
        if me.has_interactions_endpoint:
            report.fail(f"Discord: {discord.ENDPOINT_URL_IS_SET}")


# --- Database, panels, models and schedules


async def _check_app(report: _Report, settings: Settings, *, live: bool) -> None:
    for fact in await describe_local_models(settings):
        report.note(fact)
    seats = (await find_panels(settings, local=False)).merged(settings).seats
    async with open_app(settings) as app_context:
        report.ok("the database works and its schema is up to date")
        await _check_installations(report, app_context)
        for provider in app_context.health().providers:
            report.note(_limits(provider))
        if not app_context.panels:
            report.fail("no panel: write council.toml, or set the keys of two providers")
        for name, panel in app_context.panels.items():
            used = ", in use" if name == app_context.default else ""
            report.ok(f"panel {name}: {len(panel.members)} models{used}")
            report.note(f"panel {name}: {_unanimity(panel)}")
            await app_context.prepare(panel)
            for seat in dict.fromkeys(panel.seats):
                if missing := _missing_key(settings, seats[seat.key]):
                    report.fail(f"{seat.key}: no key: set {missing}")
                elif live:
                    await _call(report, app_context, seat)
                else:
                    report.note(f"{seat.key}: not called (--live makes one tiny call)")
        found = {"slack": slack_tokens(settings), "discord": discord_address(settings)}
        chats = {name for name, tokens in found.items() if tokens}
        for schedule in await bakeoff_stores(app_context).schedules.list_all():
            await _check_schedule(report, app_context, schedule, chats)


async def _check_installations(report: _Report, app_context: AppContext) -> None:
    """Check that the tokens of all installed Slack workspaces can be decrypted."""
    store, count = app_context.installations, 0
    if store is None:
        return
    for team in await store.list_team_ids():
        try:
            count += await store.async_find_bot(enterprise_id=None, team_id=team) is not None
        except CouncilError as error:
            report.fail(f"Slack: {error}")
            return
    report.ok(f"Slack: {count_noun(count, 'workspace')} installed the app")


def _limits(provider: ProviderHealth) -> str:
    where = f" at {provider.address}" if provider.address else ""
    limits = provider.limits
    pace = f", {limits.requests_per_minute} a minute" if limits.requests_per_minute else ""
    many = f"{limits.concurrency} calls at once" if limits.concurrency > 1 else "one call at a time"
    return f"{provider.provider or 'unknown provider'}{where}: {many}{pace}"


def _unanimity(panel: Panel) -> str:
    """Describe what it is worth if all judges of a panel put the same answer first."""
    if any(seat.demonstration for seat in panel.judges):
        return "demo models, so no winner is ever called certain"
    members, outside = len(panel.members), len(panel.outside_judges)
    p = f"p = {unanimity_p(members, outside):.3f}"
    if members + outside == FEW_JUDGES and panel.terms.method == BLIND_RANKING.name:
        p += f"; method {BOTH_ORDERS.name} makes so few judges less dependent on order"
    if not (more := outside_judges_needed(members, outside)):
        return f"if all judges put one answer first, that is unlikely to be chance ({p})"
    judges = count_noun(more, "more outside judge")
    return f"even if all judges put one answer first, that can be chance ({p}); add {judges}"


def _missing_key(settings: Settings, seat: Seat) -> str | None:
    """Return the variable of the API key that a seat lacks; None if it lacks none."""
    provider = seat.member.model_id.partition("/")[0]
    named = seat.section.api_key_env
    if is_built_in(seat.member) or seat.member.receiver or settings.key_for(provider, named):
        return None
    return named or api_key_variable(provider)


async def _call(report: _Report, app_context: AppContext, seat: Member) -> None:
    try:
        async with asyncio.timeout(PING_TIMEOUT_SECONDS):
            reply = await app_context.gateway.complete(Call(seat, PING))
    except GatewayError as error:
        report.fail(f"{seat.key} {error}")
    except TimeoutError as error:
        notes = getattr(error.__cause__, "__notes__", ())
        why = "; ".join((f"did not answer in {PING_TIMEOUT_SECONDS} s", *notes))
        report.fail(f"{seat.key} {why}")
    else:
        attempts = f", at attempt {reply.attempts}" if reply.attempts > 1 else ""
        report.ok(f"{seat.key} answers in {reply.seconds:.1f} s{attempts}")


async def _check_schedule(
    report: _Report, app_context: AppContext, schedule: Schedule, chats: set[str]
) -> None:
    name = f"schedule {schedule.name}"
    try:
        status = await load_schedule_status(app_context, schedule)
        next_time = f"{format_moment(status.next_times[0])} {schedule.zone}"
        times = f"{describe_cron(schedule.cron)}, next {next_time}"
    except (ValueError, KeyError, OSError):
        broken = f"its cron {schedule.cron!r} or its zone {schedule.zone!r} is not valid"
        report.fail(f"{name}: {broken}: edit or remove it")
        return
    if status.fault:
        report.fail(f"{name}: cannot run: {status.fault}")
    elif schedule.place.chat not in {*LOCAL_CHATS, *chats}:
        report.fail(f"{name}: reports to {schedule.place.chat}, which has no token")
    elif schedule.paused:
        report.note(f"{name}: paused")
    else:
        report.ok(f"{name}: {times}")
