"""`council doctor`: what works, what does not, and what to do about it."""

import asyncio
from collections.abc import AsyncIterator, Callable

import typer

from bot.cli.discord_address import discord_address
from bot.cli.discord_looked_over import discord_findings
from bot.cli.finding import Finding
from bot.cli.schedules_looked_over import schedule_findings
from bot.cli.slack_looked_over import slack_findings
from bot.cli.slack_tokens import slack_tokens
from bot.commands.context import Desk
from bot.settings import Seat, Settings, SettingsError, load_settings
from bot.settings.environment import key_name
from bot.wiring import Wishes, find_houses, opened_desk, surroundings
from council.answers import Call, Prompt
from council.errors import CouncilError, GatewayError
from council.panel import Member
from council.providers import ProviderHealth

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
        async for finding in _desk_findings(settings, live=live):
            yield finding
    except SettingsError as error:
        for fault in error.faults:
            yield Finding(fault, good=False)
    except CouncilError as error:
        yield Finding(str(error), good=False)


async def _desk_findings(settings: Settings, *, live: bool) -> AsyncIterator[Finding]:
    for fact in await surroundings(settings):
        yield Finding(fact, good=None)
    seats = (await find_houses(settings, local=False)).seats
    async with opened_desk(settings, Wishes()) as desk:
        yield Finding("database opens, its schema is up to date")
        for provider in desk.health().providers:
            yield Finding(_limits(provider), good=None)
        if not desk.panels:
            yield Finding(
                "no panel: write council.toml or set the keys of two providers", good=False
            )
        for name, panel in desk.panels.items():
            in_use = ", in use" if name == desk.default else ""
            yield Finding(f"panel {name}: {len(panel.members)} members{in_use}")
            await desk.prepare(panel)
            for seat in dict.fromkeys((*panel.judges, *panel.chairmen)):
                yield _keyless(settings, seats[seat.key]) or await _seat_finding(
                    desk, seat, live=live
                )
        async for finding in schedule_findings(desk, _chats(settings)):
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


async def _seat_finding(desk: Desk, seat: Member, *, live: bool) -> Finding:
    if not live:
        return Finding(f"{seat.key}: not called (--live spends one tiny call)", good=None)
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            reply = await desk.gateway.complete(Call(seat, PING))
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
