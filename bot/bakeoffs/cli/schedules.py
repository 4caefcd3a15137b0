"""The commands `council schedule`: recurring bake-offs that report to the page.

They are the chat's `/council schedule` commands, run in the terminal.
"""

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.console import Console

from bot.bakeoffs.commands.schedules import load_schedule_status
from bot.bakeoffs.cron import monthly_runs
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.render.schedules import ScheduleStatus
from bot.bootstrap import open_app
from bot.chat import TERMINAL, TERMINAL_USER, IncomingMessage, Post
from bot.cli.completion import complete
from bot.cli.output import Json, async_command, print_json, print_post
from bot.commands.dispatch import run_command
from bot.commands.parameters import Arguments
from bot.commands.registry import Invocation, commands_of
from bot.settings import load_settings
from bot.terminal import TerminalChat
from council.money import MICRO_USD

schedule_app = typer.Typer(help="Manage recurring bake-offs.", no_args_is_help=True)

Name = Annotated[
    str,
    typer.Argument(
        help="The schedule's name.",
        show_default=False,
        autocompletion=complete(suggest="bot.bakeoffs.commands.table:suggest_schedules"),
    ),
]
Words = Annotated[
    list[str],
    typer.Argument(
        help="NAME suite:SUITE [panel:PANEL] [cap:$2] every monday 09:00 Europe/Budapest",
        show_default=False,
    ),
]


def _add_command(verb: str, summary: str) -> None:
    @schedule_app.command(verb, help=summary)
    @async_command
    async def command(words: Words) -> None:
        await _run_chat_command(verb, *words)


def _add_named_command(verb: str, summary: str) -> None:
    @schedule_app.command(verb, help=summary)
    @async_command
    async def command(name: Name) -> None:
        await _run_chat_command(verb, name)


_add_command("add", "Add a schedule: a suite that runs again and again.")


@schedule_app.command("list")
@async_command
async def list_(as_json: Json = False) -> None:
    """List schedules with their next times, last run and cost."""
    if not as_json:
        await _run_chat_command("list")
        return
    async with open_app(load_settings()) as app:
        schedules = await bakeoff_stores(app).schedules.list_all()
        statuses = [await load_schedule_status(app, one) for one in schedules]
    print_json([_document(status) for status in statuses])


_add_command("edit", "Change a schedule: its name, then the new values.")
_add_named_command("pause", "Pause a schedule.")
_add_named_command("resume", "Resume a paused schedule.")
_add_named_command("remove", "Remove a schedule; its results stay.")
_add_named_command("run", "Run a schedule now, in addition to its times.")


class _ShellChat(TerminalChat):
    """A terminal in which hints are commands of the shell."""

    async def send_ephemeral(self, said: IncomingMessage, post: Post) -> None:
        """Print a post."""
        print_post(post)


_OPTIONS = {"suite", "panel", "zone", "cap"}


def _arguments(words: Sequence[str]) -> Arguments:
    """Return the name, the options and the rest, which says when, of a command's words."""
    values: dict[str, str] = {}
    rest = []
    for word in words:
        name, _, value = word.partition(":")
        if value and name.lower() in _OPTIONS - values.keys():
            values[name.lower()] = value.strip('"')
        else:
            rest.append(word)
    if rest:
        values["name"] = rest[0]
    if rest[1:]:
        values["when"] = " ".join(rest[1:])
    return values


async def _run_chat_command(verb: str, *words: str) -> None:
    async with open_app(load_settings()) as app:
        chat = _ShellChat(Console(highlight=False))
        message = IncomingMessage(" ".join(words), TERMINAL_USER, TERMINAL, app.new_id())
        command = commands_of(app)[f"schedule {verb}"]
        await run_command(app, chat, message, Invocation(command, _arguments(words)))
        chat.close()


def _document(status: ScheduleStatus) -> dict[str, Any]:
    one, last, cap = status.schedule, status.last, status.schedule.cap_micro
    is_cost_known = not status.fault and not status.cost.unknown
    return {
        "id": one.id,
        "name": one.name,
        "scope": one.scope,
        "suite": one.suite,
        "panel": one.panel,
        "cron": one.cron,
        "zone": one.zone,
        "words": one.words,
        "paused": one.paused,
        "made_by": one.made_by,
        "made_at": one.made_at.isoformat(),
        "next": [] if one.paused else [when.isoformat() for when in status.next_times],
        "last": last
        and {"bakeoff": last.id, "at": last.at.isoformat(), "ended": bool(last.ending)},
        "cap_usd": None if cap is None else cap / MICRO_USD,
        "run_usd": status.cost.micro / MICRO_USD if is_cost_known else None,
        "runs_a_month": monthly_runs(one.cron),
        "fault": status.fault,
    }
