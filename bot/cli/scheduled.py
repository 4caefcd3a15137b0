"""What `council schedule` does: the words of a chat's command, said in the terminal."""

from typing import Any

from rich.console import Console

from bot.chat import Said
from bot.cli.outcome import say_json
from bot.cli.rounds import YOU
from bot.commands import schedules as scheduling
from bot.commands.schedules import schedule
from bot.render.schedules import Lined
from bot.schedules.cron import runs_a_month
from bot.settings import load_settings
from bot.terminal import HERE, TerminalChat
from bot.wiring import Wishes, opened_desk
from council.money import MICRO


async def say(words: str) -> None:
    """Do with schedules what is said, and print what comes of it."""
    async with opened_desk(load_settings(), Wishes()) as desk:
        chat = TerminalChat(Console(highlight=False))
        await schedule(desk, chat, Said(words, YOU, HERE, desk.new_id()), words)
        chat.close()


async def print_schedules() -> None:
    """Print every schedule as JSON."""
    async with opened_desk(load_settings(), Wishes()) as desk:
        rows = await desk.bench.schedules.every()
        lines = [await scheduling.lined(desk, row) for row in rows]
    say_json([_document(line) for line in lines])


def _document(line: Lined) -> dict[str, Any]:
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
