"""Checks of schedules and verdicts for `council doctor`."""

from collections.abc import Set

from bot.bakeoffs.commands.schedules import load_schedule_status
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.render.bias_verdicts import verdict_lines
from bot.bakeoffs.render.schedules import describe_cron, format_moment
from bot.chats import configured_chats
from bot.checks import CheckReport
from bot.context import AppContext
from bot.settings import Settings
from council.bakeoffs.bias.verdict_value import preferred_answers, verdict_values
from council.bakeoffs.models import Schedule
from council.bakeoffs.record_arrays import record_columns
from council.places import LOCAL_CHATS


async def check_schedules(report: CheckReport, app: AppContext, settings: Settings) -> None:
    """Check that every schedule can run, and report where it should."""
    chats = configured_chats(app.plugins, settings)
    for schedule in await bakeoff_stores(app).schedules.list_all():
        await _check_schedule(report, app, schedule, chats)


async def check_verdicts(report: CheckReport, app: AppContext, _: Settings) -> None:
    """Report what the verdicts of stored rounds were worth, from thirty rounds on."""
    records = await bakeoff_stores(app).records.list_recent()
    preferred = preferred_answers(await app.store.votes())
    for line in verdict_lines(verdict_values(record_columns(records), preferred)):
        report.note(line)


async def _check_schedule(
    report: CheckReport, app_context: AppContext, schedule: Schedule, chats: Set[str]
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
