"""How schedules read: what was understood, when they come next, what they cost, what went wrong."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from bot.chat import Caution, Heading, Line, Note, Part, Post, Table
from bot.render.formatting import counted, listed
from bot.schedules.cron import GRACE_SECONDS, Due, in_words, runs_a_month, slots_of
from council.bakeoffs.models import Bakeoff, Schedule
from council.money import about, dollars
from council.places import HOUSE, Place

_NEXT_TIMES = 3
_DAILY_RUNS = 20  # runs a month from which they are told whole


@dataclass(frozen=True, slots=True)
class ScheduleCost:
    """What a run may cost at most, in micro-dollars; `unknown` are seats of unknown price."""

    micro: int = 0
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScheduleStatus:
    """A schedule as it stands now: its newest run, and its cost or what keeps it from running."""

    schedule: Schedule
    now: datetime
    last: Bakeoff | None = None
    cost: ScheduleCost = ScheduleCost()
    questions: int = 0
    fault: str = ""

    @property
    def next_times(self) -> tuple[datetime, ...]:
        """When it comes next, in its own zone."""
        slots = slots_of(self.schedule).next_few(self.now, _NEXT_TIMES)
        return tuple(slot.moment for slot in slots)


def understood_post(line: ScheduleStatus, here: Place, house_zone: str = "") -> Post:
    """Repeat what was understood; `house_zone` is named where nobody named a zone."""
    schedule = line.schedule
    parts: list[Part] = [Heading(f"Schedule {schedule.name}"), *map(Caution, _cautions(line))]
    parts += [Line(meaning(line, here)), Line(next_line(line))]
    parts += [Note(note) for note in (cost_line(line), _zone_note(house_zone)) if note]
    return Post(tuple(parts), f"Schedule {schedule.name}: {in_words(schedule.cron)}")


def meaning(line: ScheduleStatus, here: Place) -> str:
    """Give what a schedule does, as a sentence."""
    schedule = line.schedule
    when = in_words(schedule.cron)
    of = f" of {counted(line.questions, 'question')}" if line.questions else ""
    return (
        f"{when[0].upper()}{when[1:]}, {schedule.zone} time: suite {schedule.suite}{of} is put to "
        f"panel {schedule.panel}, and the result is posted {_place_text(schedule.place, here)}."
    )


def _place_text(place: Place, here: Place) -> str:
    """Say where a place is, seen from here."""
    if place.chat in HOUSE:
        return "on the page"
    return "here" if place.shares_channel(here) else f"in another channel of {place.chat.title()}"


def moment(when: datetime) -> str:
    """Give a moment as a wall clock and a calendar show it: "Mon 23 Nov 2026 09:00"."""
    return f"{when:%a} {when.day} {when:%b %Y %H:%M}"


def next_line(line: ScheduleStatus) -> str:
    """Say when a schedule comes next, as clocks in its own zone show it."""
    times = f"{', '.join(map(moment, line.next_times))} ({line.schedule.zone})"
    return f"It would come {times}." if line.schedule.paused else f"Next: {times}."


def _cautions(line: ScheduleStatus) -> Iterator[str]:
    if line.schedule.paused:
        yield "It is paused."
    if line.fault:
        yield f"It cannot run: {line.fault}"


def cost_line(line: ScheduleStatus) -> str:
    """Say what a run and a month of runs may cost: "A run costs $0.12 at most; …"."""
    if line.fault:
        return ""
    cost, often, cap = line.cost, runs_a_month(line.schedule.cron), line.schedule.cap_micro
    unknown = [f"cost unknown for {listed(cost.unknown)}"] if cost.unknown else []
    known = f"a run costs {about(cost.micro)} at most, and {_frequency_text(often)} "
    told = [f"{known}{about(round(cost.micro * often))}"] if cost.micro else []
    capped = [] if cap is None else [f"its cap is {dollars(cap)}"]
    sentence = "; ".join([*told, *unknown] or ["a run costs nothing"])
    return f"{'; '.join([sentence[0].upper() + sentence[1:], *capped])}."


def _frequency_text(often: float) -> str:
    """Say how many runs a month has: "about 4.3 runs a month"."""
    if often < 1:
        return "a month on the average"
    figure = f"{often:.0f}" if often >= _DAILY_RUNS or often == int(often) else f"{often:.1f}"
    return f"about {figure} run{'' if often == 1 else 's'} a month"


def _zone_note(zone: str) -> str:
    if not zone:
        return ""
    whose = "no zone was named" if zone == "UTC" else "the house's own, as none was named"
    return f"{zone} is the time zone ({whose}); Region/City names another, as Europe/Budapest does."


def list_post(lines: Sequence[ScheduleStatus], here: Place) -> Post:
    """Give the schedules there are: when they come, how the last run went, what one costs."""
    if not lines:
        line = "No schedule yet: /council schedule add NAME suite:NAME every monday 09:00."
        return Post((Note(line),), line)
    rows = tuple(
        (
            line.schedule.name,
            in_words(line.schedule.cron),
            _next_text(line),
            last_run(line),
            _price_text(line),
        )
        for line in lines
    )
    faults = [
        Caution(f"{line.schedule.name} cannot run: {line.fault}") for line in lines if line.fault
    ]
    table = Table(("Schedule", "Comes", "Next", "Last run", "A run costs"), rows)
    heading = Heading(counted(len(lines), "schedule"))
    return Post((heading, *faults, table), heading.text)


def _next_text(line: ScheduleStatus) -> str:
    if line.schedule.paused:
        return "paused"
    return f"{moment(line.next_times[0])} {line.schedule.zone}"


def last_run(line: ScheduleStatus) -> str:
    """Say how the newest run went: "Mon 16 Nov 2026 09:00, done"."""
    last = line.last
    if last is None:
        return "none yet"
    at = moment(last.at.astimezone(ZoneInfo(line.schedule.zone)))
    if last.ending is None:
        return f"{at}, under way"
    return f"{at}, {'stopped' if last.ending.failure else 'done'}"


def _price_text(line: ScheduleStatus) -> str:
    if line.fault:
        return ""
    if line.cost.unknown:
        return "unknown"
    return about(line.cost.micro) if line.cost.micro else "nothing"


def dropped_post(schedule: Schedule, found: Due, now: datetime) -> Post:
    """Say that a slot was left out since nobody could run it in time."""
    why = f"I could not run it within {GRACE_SECONDS // 60} minutes, so it is left out"
    return _left_out_post(schedule, found, why, now)


def skipped_post(schedule: Schedule, found: Due, before: Bakeoff) -> Post:
    """Say that a slot was left out since the run before still goes."""
    why = f"bake-off {before.id}, the run before, still goes, so it is left out"
    return _left_out_post(schedule, found, why, found.slot.moment)


def _left_out_post(schedule: Schedule, found: Due, why: str, now: datetime) -> Post:
    after = slots_of(schedule).after(now).moment
    line = f"Schedule {schedule.name}, run of {moment(found.slot.moment)}: {why}."
    then = f"The next one is {moment(after)} ({schedule.zone})."
    return Post((Caution(line), Note(then)), f"{line} {then}")


def paused_post(schedule: Schedule, why: str) -> Post:
    """Say to whoever made it that a schedule cannot run, and is paused."""
    line = f"Your schedule {schedule.name} cannot run, so it is paused. {why}"
    then = (
        f"Once that is mended, `/council schedule resume {schedule.name}` goes on with it, and "
        f"`/council schedule edit {schedule.name} …` changes it."
    )
    return Post((Caution(line), Note(then)), f"{line} {then}")
