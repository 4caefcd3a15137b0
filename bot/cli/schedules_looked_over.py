"""What `council doctor` says of schedules: which come when, and which cannot run."""

from collections.abc import AsyncIterator

from bot.cli.finding import Finding
from bot.commands.context import Desk
from bot.commands.schedules import lined
from bot.render.schedules import moment
from bot.schedules.cron import in_words
from council.bakeoffs.models import Schedule
from council.places import HOUSE


async def schedule_findings(desk: Desk, chats: set[str]) -> AsyncIterator[Finding]:
    """Give a finding for each schedule; `chats` are those that can be started."""
    for schedule in await desk.bench.schedules.every():
        try:
            yield await _finding(desk, schedule, chats)
        except (ValueError, KeyError, OSError):
            broken = f"its cron {schedule.cron!r} or its zone {schedule.zone!r} is not sound"
            yield _failed(schedule, f"{broken}: edit or remove it")


async def _finding(desk: Desk, schedule: Schedule, chats: set[str]) -> Finding:
    line = await lined(desk, schedule)
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
