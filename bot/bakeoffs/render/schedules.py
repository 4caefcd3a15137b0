"""Renderer of schedules: what was understood, the next runs, costs, and failures."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from bot.bakeoffs.cron import (
    DAY_NAMES,
    GRACE_SECONDS,
    LAST,
    MONTH_NAMES,
    ORDINALS,
    WEEKDAYS,
    WEEKEND,
    CronFields,
    DueSlot,
    Slots,
    monthly_runs,
    parse_fields,
    schedule_slots,
)
from bot.chat import Button, Buttons, Caution, Heading, Line, Note, Part, Post, Table
from bot.render.formatting import count_noun, join_words, local_time, ordinal, plain_line
from bot.render.lists import NEW
from council.bakeoffs.models import Bakeoff, Schedule
from council.budget import Estimate
from council.money import format_rounded_usd, format_usd
from council.places import LOCAL_CHATS, Place

NO_COST = Estimate(0)
NEW_SCHEDULE = "new_schedule"  # the action
NEW_SCHEDULE_BUTTON = Button(NEW_SCHEDULE, "New schedule", NEW)


@dataclass(frozen=True, slots=True)
class ScheduleStatus:
    """The current state of a schedule: its newest run, and its cost or why it cannot run."""

    schedule: Schedule
    now: datetime
    last: Bakeoff | None = None
    cost: Estimate = NO_COST
    questions: int = 0
    fault: str = ""

    @property
    def next_times(self) -> tuple[datetime, ...]:
        """Return the next run times in the schedule's own zone."""
        return schedule_slots(self.schedule).next_slots(self.now, 3)


def understood_post(status: ScheduleStatus, here: Place, house_zone: str = "") -> Post:
    """Return what was understood; `house_zone` is named if the person named no zone."""
    schedule = status.schedule
    cautions = [Caution("It is paused.")] if schedule.paused else []
    cautions += [Caution(f"It cannot run: {status.fault}")] if status.fault else []
    parts: tuple[Part, ...] = (
        Heading(f"Schedule {schedule.name}"),
        *cautions,
        Line(schedule_sentence(status, here)),
        Line(next_line(status, is_local=True)),
        *(Note(note) for note in (cost_line(status), _zone_note(house_zone)) if note),
    )
    return Post(parts, f"Schedule {schedule.name}: {describe_cron(schedule.cron)}")


def schedule_sentence(status: ScheduleStatus, here: Place) -> str:
    """Return what a schedule does, as a sentence."""
    schedule = status.schedule
    when = describe_cron(schedule.cron)
    size = f" of {count_noun(status.questions, 'question')}" if status.questions else ""
    return (
        f"{when[0].upper()}{when[1:]}, {schedule.zone} time: suite {schedule.suite}{size} runs "
        f"on panel {schedule.panel}. The result is posted {_place_text(schedule.place, here)}."
    )


def _place_text(place: Place, here: Place) -> str:
    if place.chat in LOCAL_CHATS:
        return "on the page"
    return "here" if place.shares_channel(here) else f"in another channel of {place.chat.title()}"


def format_moment(when: datetime) -> str:
    """Return a moment as "Mon 23 Nov 2026 09:00"."""
    return f"{when:%a} {when.day} {when:%b %Y %H:%M}"


def _local(when: datetime, zone: str) -> str:
    return local_time(when, f"{format_moment(when)} ({zone})")


def next_line(status: ScheduleStatus, *, is_local: bool = False) -> str:
    """Return when a schedule runs next, in its own zone or, in a chat's line, in the reader's."""
    zone = status.schedule.zone
    times = f"{', '.join(map(format_moment, status.next_times))} ({zone})"
    if is_local:
        times = ", ".join(_local(when, zone) for when in status.next_times)
    return f"It would run {times}." if status.schedule.paused else f"Next: {times}."


def next_run_line(schedule: Schedule, now: datetime) -> str:
    """Return when a schedule runs next, in the reader's time zone, or that it is paused."""
    if schedule.paused:
        return f"{schedule.name} is paused."
    return f"Next run: {_local(schedule_slots(schedule).after(now), schedule.zone)}."


def next_runs_line(cron: str, zone: str, now: datetime) -> str:
    """Return when a valid cron runs, its next three times, and whether the clocks change."""
    moments = Slots(cron, zone).next_slots(now)
    when, times = describe_cron(cron), ", ".join(map(format_moment, moments))
    return f"{when[0].upper()}{when[1:]}. Next: {times} ({zone}).{_clock_note(cron, now, moments)}"


def _clock_note(cron: str, now: datetime, moments: Sequence[datetime]) -> str:
    fields = parse_fields(cron)
    hours, minutes = fields.hours or _HOURS, fields.minutes or _MINUTES
    for moment in moments:
        if moment.hour not in hours or moment.minute not in minutes:
            return (
                f" The clocks change on {moment:%a} {moment.day} {moment:%b} and skip its time, so "
                f"it runs at {moment:%H:%M}."
            )
        if moment.utcoffset() != now.astimezone(moment.tzinfo).utcoffset():
            return (
                f" The clocks change before {format_moment(moment)}; it keeps its time of day, and "
                "runs once where that time occurs twice."
            )
    return ""


def cost_line(status: ScheduleStatus) -> str:
    """Return the cost of a run and of a month of runs: "A run costs $0.12 at most; …"."""
    if status.fault:
        return ""
    cost, runs, cap = status.cost, monthly_runs(status.schedule.cron), status.schedule.cap_micro
    unknown = [f"cost unknown for {join_words(cost.unknown)}"] if cost.unknown else []
    known = [
        f"a run costs {format_rounded_usd(cost.micro)} at most, and {_frequency_text(runs)} "
        f"{format_rounded_usd(round(cost.micro * runs))}"
    ]
    parts = [*(known if cost.micro else []), *unknown] or ["a run costs nothing"]
    parts += [] if cap is None else [f"its cap is {format_usd(cap)}"]
    sentence = "; ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _frequency_text(runs: float) -> str:
    """Return how many runs a month has: "about 4.3 runs a month"."""
    if runs < 1:
        return "a month on average"
    # Many runs a month are rounded.
    figure = f"{runs:.0f}" if runs >= 20 or runs == int(runs) else f"{runs:.1f}"  # noqa: PLR2004
    return f"about {figure} run{'' if runs == 1 else 's'} a month"


def _zone_note(zone: str) -> str:
    if not zone:
        return ""
    origin = "no time zone was given" if zone == "UTC" else "the default, because none was given"
    return (
        f"Time zone: {zone} ({origin}). To use another, write Region/City, for example "
        "Europe/Budapest."
    )


def schedules_post(statuses: Sequence[ScheduleStatus]) -> Post:
    """Return all schedules: when they run, how the last run went, the cost of one."""
    if not statuses:
        status = (
            "No schedules yet. Add one with `/council schedule add NAME suite:NAME every "
            "monday 09:00`."
        )
        return Post((Note(status),), status)
    rows = tuple(
        (
            status.schedule.name,
            describe_cron(status.schedule.cron),
            "paused"
            if status.schedule.paused
            else f"{format_moment(status.next_times[0])} {status.schedule.zone}",
            last_run_text(status),
            _price_text(status),
        )
        for status in statuses
    )
    faults = [
        Caution(f"{status.schedule.name} cannot run: {status.fault}")
        for status in statuses
        if status.fault
    ]
    table = Table(("Schedule", "Comes", "Next", "Last run", "A run costs"), rows)
    heading = Heading(count_noun(len(statuses), "schedule"))
    return Post((heading, *faults, table), heading.text)


def schedule_list_post(statuses: Sequence[ScheduleStatus], *, may_add: bool = False) -> Post:
    """Return all schedules for a room: when they run, in the reader's time zone, and the cost.

    Somebody who may add one gets a button for that.
    """
    new = (Buttons((NEW_SCHEDULE_BUTTON,)),) if may_add else ()
    if not statuses:
        post = schedules_post(statuses)
        return replace(post, parts=(*post.parts, *new))
    parts: list[Part] = [Heading(count_noun(len(statuses), "schedule"))]
    for status in statuses:
        schedule, last = status.schedule, status.last
        parts.append(Line(f"**{schedule.name}**: {describe_cron(schedule.cron)}"))
        if status.fault:
            parts.append(Caution(f"{schedule.name} cannot run: {status.fault}"))
        following = _local(status.next_times[0], schedule.zone)
        notes = ["It is paused." if schedule.paused else f"Next: {following}."]
        notes += [f"Last: {local_time(last.at)}, {_run_state(last)}."] if last else []
        price = _price_text(status)
        is_known = price not in {"", "unknown"}
        notes += [f"A run costs {price}." if is_known else "Its cost is unknown."] if price else []
        parts.append(Note(" ".join(notes)))
    return Post((*parts, *new), parts[0].text if isinstance(parts[0], Heading) else "")


def last_run_text(status: ScheduleStatus) -> str:
    """Return how the newest run went: "Mon 16 Nov 2026 09:00, done"."""
    last = status.last
    if last is None:
        return "none yet"
    time = format_moment(last.at.astimezone(ZoneInfo(status.schedule.zone)))
    return f"{time}, {_run_state(last)}"


def _run_state(run: Bakeoff) -> str:
    if run.ending is None:
        return "running"
    return "stopped" if run.ending.failure else "done"


def _price_text(status: ScheduleStatus) -> str:
    if status.fault:
        return ""
    if status.cost.unknown:
        return "unknown"
    return format_rounded_usd(status.cost.micro) if status.cost.micro else "nothing"


def dropped_post(schedule: Schedule, due: DueSlot, now: datetime) -> Post:
    """Report that a slot was skipped since it could not run in time."""
    reason = f"it could not start within {GRACE_SECONDS // 60} minutes, so this run is skipped"
    return _left_out_post(schedule, due, reason, now)


def skipped_post(schedule: Schedule, due: DueSlot) -> Post:
    """Report that a slot was skipped since the previous run is still going."""
    reason = "the previous run is still going, so this run is skipped"
    return _left_out_post(schedule, due, reason, due.moment)


def _left_out_post(schedule: Schedule, due: DueSlot, reason: str, now: datetime) -> Post:
    next_time = schedule_slots(schedule).after(now)
    slot = local_time(due.moment, format_moment(due.moment))
    line = f"Schedule {schedule.name}, run of {slot}: {reason}."
    next_step = f"The next run is {_local(next_time, schedule.zone)}."
    return Post((Caution(line), Note(next_step)), plain_line(f"{line} {next_step}"))


def paused_post(schedule: Schedule, reason: str) -> Post:
    """Tell the owner that a schedule cannot run and is paused."""
    line = f"Your schedule {schedule.name} can't run, so it is paused. {reason}"
    next_step = (
        f"Fix that, then resume it with `/council schedule resume {schedule.name}`, or change it "
        f"with `/council schedule edit {schedule.name} …`."
    )
    return Post((Caution(line), Note(next_step)), f"{line} {next_step}")


# --- Buttons. Their values are ids, since a removed schedule's name may be taken again.

SUBSCRIBE, UNSUBSCRIBE = "schedule_subscribe", "schedule_unsubscribe"
RUN_NOW, EXTRA_RUN = "schedule_run", "schedule_run_now"  # asks first; starts
PAUSE, RESUME = "schedule_pause", "schedule_resume"


def subscribe_button(schedule: Schedule, *, subscribed: bool = False) -> Button:
    """Return the button that subscribes its presser, or a subscriber's that ends that."""
    if subscribed:
        return Button(UNSUBSCRIBE, "Unsubscribe", schedule.id)
    return Button(SUBSCRIBE, "Subscribe", schedule.id)


def run_button(schedule: Schedule) -> Button:
    """Return the button that asks whether to run a schedule now."""
    return Button(RUN_NOW, "Run now", schedule.id)


def pause_button(schedule: Schedule) -> Button:
    """Return the button that pauses a schedule, or resumes a paused one."""
    if schedule.paused:
        return Button(RESUME, "Resume schedule", schedule.id)
    return Button(PAUSE, "Pause", schedule.id)


# --- Crons in plain words. cron-descriptor's "At 09:00, only on Monday" reads worse.

_HOURS, _MINUTES = range(24), range(60)
_ORDINAL_WORDS = {number: word for word, number in ORDINALS.items()} | {LAST: "last"}
_WEEKDAY_SETS = {
    WEEKDAYS: "every weekday",
    tuple(sorted(WEEKEND)): "every Saturday and Sunday",
    tuple(range(7)): "every day",
}


def describe_cron(cron: str) -> str:
    """Return when a valid cron runs, such as "every Monday and Thursday at 18:00".

    A cron too complex to describe is quoted.
    """
    fields = parse_fields(cron)
    clock, calendar = _describe_clock(fields), _describe_calendar(fields)
    if not clock or not calendar:
        return f'with the cron expression "{cron}"'
    if calendar == "every day" and clock.startswith("every"):
        return clock
    return f"{calendar}, {clock}" if clock.startswith("every") else f"{calendar} {clock}"


def _describe_clock(fields: CronFields) -> str:
    """Return the times of a day: "at 09:00 and 18:00", "every 2 hours", "every 15 minutes"."""
    hours, minutes = fields.hours or tuple(_HOURS), fields.minutes or tuple(_MINUTES)
    if len(hours) * len(minutes) <= 6 and fields.hours:  # noqa: PLR2004
        return f"at {join_words(f'{hour:02}:{minute:02}' for hour in hours for minute in minutes)}"
    every_hour = _step(hours, len(_HOURS))
    if len(minutes) == 1 and every_hour:
        past = f" at {minutes[0]} minutes past" if minutes[0] else ""
        return f"every {'hour' if every_hour == 1 else f'{every_hour} hours'}{past}"
    every_minute = _step(minutes, len(_MINUTES))
    if every_hour == 1 and every_minute:
        return f"every {'minute' if every_minute == 1 else f'{every_minute} minutes'}"
    return ""


def _step(values: Sequence[int], whole: int) -> int:
    """Return the step that divides `whole` evenly into these values from 0 on, else 0."""
    step = whole // len(values)
    return step if tuple(values) == tuple(range(0, whole, step)) else 0


def _describe_calendar(fields: CronFields) -> str:
    weekdays = _describe_weekdays(fields)
    names = ["last day" if day == LAST else ordinal(int(day)) for day in fields.days or ()]
    days = f"on the {join_words(names)}" if names else ""
    either = " or ".join(part for part in (days, weekdays) if part)
    if fields.months:
        months = join_words(MONTH_NAMES[month - 1] for month in fields.months)
        return f"{either or 'every day'} in {months}"
    if days and not weekdays:
        return f"{days} of every month"
    return f"{either} of the month" if fields.nth else either or "every day"


def _describe_weekdays(fields: CronFields) -> str:
    """Return "every Monday" or "on the first Monday and last Friday"; "" for any day."""
    if fields.nth:
        nth = [f"{_ORDINAL_WORDS.get(turn, turn)} {DAY_NAMES[day]}" for day, turn in fields.nth]
        plain = [day for day in fields.weekdays or () if day not in dict(fields.nth)]
        return f"on the {join_words([*nth, *(f'every {DAY_NAMES[day]}' for day in plain)])}"
    if not fields.weekdays:
        return ""
    name = _WEEKDAY_SETS.get(tuple(sorted(fields.weekdays)))
    # Weeks start on Monday.
    days = sorted(fields.weekdays, key=lambda day: (day - 1) % 7)
    return name or f"every {join_words(DAY_NAMES[day] for day in days)}"
