"""What `council schedule` does: the words of a chat's command, said in the terminal."""

from typing import Annotated, Any

import typer
from rich.console import Console

from bot.bootstrap import StartOptions, opened_app
from bot.chat import IncomingMessage
from bot.cli.output import run, say_json
from bot.cli.rounds import YOU
from bot.commands import schedules as scheduling
from bot.commands.schedules import schedule
from bot.render.schedules import ScheduleStatus
from bot.schedules.cron import runs_a_month
from bot.settings import load_settings
from bot.terminal import HERE, TerminalChat
from council.money import MICRO

schedule_app = typer.Typer(help="Recurring bake-offs.", no_args_is_help=True)

# --- What `council schedule` does: the words of a chat's command, said in the terminal.


async def say(words: str) -> None:
    """Do with schedules what is said, and print what comes of it."""
    async with opened_app(load_settings(), StartOptions()) as app:
        chat = TerminalChat(Console(highlight=False))
        await schedule(app, chat, IncomingMessage(words, YOU, HERE, app.new_id()), words)
        chat.close()


async def print_schedules() -> None:
    """Print every schedule as JSON."""
    async with opened_app(load_settings(), StartOptions()) as app:
        rows = await app.bakeoff_stores.schedules.every()
        lines = [await scheduling.lined(app, row) for row in rows]
    say_json([_document(line) for line in lines])


def _document(line: ScheduleStatus) -> dict[str, Any]:
    one, last, cap = line.schedule, line.last, line.schedule.cap_micro
    known = not line.fault and not line.cost.unknown
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
        "next": [] if one.paused else [when.isoformat() for when in line.next_times],
        "last": last
        and {"bakeoff": last.id, "at": last.at.isoformat(), "ended": bool(last.ending)},
        "cap_usd": None if cap is None else cap / MICRO,
        "run_usd": line.cost.micro / MICRO if known else None,
        "runs_a_month": runs_a_month(one.cron),
        "fault": line.fault,
    }


# --- `council schedule`: recurring bake-offs that report to the page.

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Name = Annotated[str, typer.Argument(help="The schedule's name.", show_default=False)]
Words = Annotated[
    list[str],
    typer.Argument(
        help="NAME suite:SUITE [panel:PANEL] [cap:$2] every monday 09:00 Europe/Budapest",
        show_default=False,
    ),
]


@schedule_app.command()
def add(words: Words) -> None:
    """Have a suite put to a panel again and again, and posted on the page."""
    _say("add", *words)


@schedule_app.command("list")
def list_(as_json: Json = False) -> None:
    """List every schedule, with its next times, its last run and its cost."""
    if not as_json:
        _say("list")
        return

    run(print_schedules())


@schedule_app.command()
def edit(words: Words) -> None:
    """Change a schedule: NAME, then what is to be another."""
    _say("edit", *words)


@schedule_app.command()
def pause(name: Name) -> None:
    """Have a schedule not run until it is resumed."""
    _say("pause", name)


@schedule_app.command()
def resume(name: Name) -> None:
    """Go on with a schedule that was paused."""
    _say("resume", name)


@schedule_app.command()
def remove(name: Name) -> None:
    """Have a schedule no more; its bake-offs stay."""
    _say("remove", name)


@schedule_app.command("run")
def run_(name: Name) -> None:
    """Run a schedule now, beside its times."""
    _say("run", name)


def _say(verb: str, *words: str) -> None:

    # What the shell took for one word is one: a cron in quotes.
    quoted = (f'"{word}"' if " " in word and '"' not in word else word for word in words)
    run(say(" ".join((verb, *quoted))))
