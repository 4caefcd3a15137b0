"""The command `council doctor`: health checks of settings, tokens, database and models."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Annotated

import typer

from bot.api_keys import list_keys
from bot.bootstrap import (
    PING,
    StartOptions,
    describe_local_models,
    find_panels,
    missing_key,
    open_app,
)
from bot.chats import find_chats, leaving_out
from bot.checks import CheckReport
from bot.cli.output import FAILED, async_command
from bot.context import AppContext
from bot.plugins import Plugins, failures, find_plugins, list_installed, read_switches
from bot.render.formatting import count_noun, join_words
from bot.settings import Settings, SettingsError, load_settings
from bot.settings.connections import read_document
from bot.settings.council_toml import PLUGIN_SECTIONS
from bot.settings.panels import registry_of
from bot.settings.provider_keys import KEYS_FILE, addresses_of
from council.answers import Call
from council.errors import CouncilError, GatewayError, PanelError
from council.methods import BLIND_RANKING, BOTH_ORDERS, check_panel_rules, find_method
from council.panel import Member, Panel
from council.providers import ProviderHealth
from council.tally.verdict import outside_judges_needed, unanimity_p

PING_TIMEOUT_SECONDS = 60  # the default of a stage

FEW_JUDGES = 3


@async_command
async def doctor(
    live: Annotated[bool, typer.Option("--live", help="Make one tiny call to each model.")] = False,
) -> None:
    """Check settings, tokens, database and models."""
    report = CheckReport(typer.echo)
    fail_once = partial(_fail_once, report, set[str]())
    try:
        settings = load_settings()
        report.ok(f"settings read; data in {settings.data_dir}")
        _check_keys(report, settings)
        plugins = _find_plugins(settings)
        for name, chat in find_chats(plugins).items():
            with leaving_out(plugins, name):
                await chat.check(report, settings)
        _check_plugins(report, plugins, fail_once)
        await _check_app(report, settings, fail_once, live=live)
    except SettingsError as error:
        for fault in error.faults:
            fail_once(fault)
    except CouncilError as error:
        report.fail(str(error))
    if not report.is_healthy:
        raise typer.Exit(FAILED)


# --- Keys that were entered on the page


def _check_keys(report: CheckReport, settings: Settings) -> None:
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


# --- Plug-ins


def _find_plugins(settings: Settings) -> Plugins:
    """Return the plug-ins; those that are always on if council.toml has faults, named later."""
    try:
        return find_plugins(read_switches(settings.config_file))
    except (ValueError, OSError):
        return find_plugins()


def _fail_once(report: CheckReport, told: set[str], fault: str) -> None:
    """Print a fault that several steps find, such as that of a plug-in, once."""
    if fault not in told:
        report.fail(fault)
    told.add(fault)


def _check_plugins(report: CheckReport, plugins: Plugins, fail_once: Callable[[str], None]) -> None:
    """Name what of plug-ins can't be used, and those that are installed but not enabled."""
    for fault in (*failures(plugins), *map(str, registry_of(plugins).conflicts)):
        fail_once(fault)
    for status in list_installed(plugins):
        if status.state == "not enabled":
            report.note(f"plug-in {status.name}, from {status.origin}: not enabled. {status.why}")


# --- Database, panels and models


async def _check_app(
    report: CheckReport, settings: Settings, fail_once: Callable[[str], None], *, live: bool
) -> None:
    for fact in await describe_local_models(settings):
        report.note(fact)
    config = (await find_panels(settings, local=False)).merged(settings)
    for section in config.left_out:
        owner = PLUGIN_SECTIONS[section]
        report.note(f"council.toml: {section} is not used, since the plug-in {owner} is not here")
    async with open_app(settings, StartOptions(report=fail_once)) as app_context:
        report.ok("the database works and its schema is up to date")
        for provider in app_context.health().providers:
            report.note(_limits(provider))
        if not app_context.panels:
            report.fail("no panel: write council.toml, or set the keys of two providers")
        for panel in app_context.panels.values():
            _check_panel(report, app_context, panel)
            await app_context.prepare(panel)
            for seat in dict.fromkeys(panel.seats):
                if missing := missing_key(settings, config.seats[seat.key], app_context.plugins):
                    report.fail(f"{seat.key}: no key: set {missing}")
                elif live:
                    await _call(report, app_context, seat)
                else:
                    report.note(f"{seat.key}: not called (--live makes one tiny call)")
        await _check_api_keys(report, app_context)
        await _run_plugin_checks(report, app_context, settings)


async def _run_plugin_checks(
    report: CheckReport, app_context: AppContext, settings: Settings
) -> None:
    for name, check in app_context.plugins.load_named(lambda plugin: plugin.checks):
        try:
            await check(report, app_context, settings)
        except CouncilError as error:
            report.fail(str(error))
        # The checks of other plug-ins still run.
        except Exception as error:  # noqa: BLE001
            report.fail(f"The plug-in {name}: a check failed ({type(error).__name__}: {error}).")


def _check_panel(report: CheckReport, app_context: AppContext, panel: Panel) -> None:
    try:
        check_panel_rules(panel, app_context.registry)
    except PanelError as error:
        report.fail(f"panel {panel.name}: {error}")
        return
    used = ", in use" if panel.name == app_context.default else ""
    report.ok(f"panel {panel.name}: {len(panel.members)} models{used}")
    report.note(f"panel {panel.name}: {_unanimity(panel)}")
    method = find_method(panel.terms.method, app_context.registry)
    judges = [seat for seat in method.judges(panel) if seat in panel.outside_judges]
    if judges and method.passes % 2 and not method.pair_ballots:
        calls = count_noun(len(judges), "more call")
        report.note(
            f"panel {panel.name}: outside judges also rank in the reverse order, so that no slot "
            f"gains by it ({calls} a question, in the estimate)"
        )


async def _check_api_keys(report: CheckReport, app_context: AppContext) -> None:
    for key in await list_keys(app_context.key_values):
        if key.made_by is None and key.revoked_at is None:
            report.note(
                f"API key {key.name}: an earlier version did not store who made it, so it has a "
                "budget of its own. If a visitor made it, revoke it and let them make another."
            )


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


async def _call(report: CheckReport, app_context: AppContext, seat: Member) -> None:
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
