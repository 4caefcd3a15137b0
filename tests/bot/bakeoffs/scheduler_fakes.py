"""Fakes for the scheduler: an app with a manual clock, a chat, and runs that are only recorded."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from bot.bakeoffs.cron import schedule_slots
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.scheduler import Scheduler, SlotTrigger
from bot.chat import Chat, Post, PostingForbiddenError, SentMessage
from bot.context import AppContext
from council.bakeoffs.models import Bakeoff, Ending, Schedule, Suite, SuiteQuestion
from council.bakeoffs.ports import BakeoffStores
from council.places import Place
from tests.bot.app_fakes import FakeChat, an_app
from tests.council.bakeoffs.builders import a_schedule

HERE = Place("slack", "T1", "C1")
SQL = Suite("sql", (SuiteQuestion("What does SKIP LOCKED do?"), SuiteQuestion("Why WAL?")))
MONDAY = datetime(2026, 11, 23, 8, 59, tzinfo=UTC)
WEEKLY = a_schedule(
    "5c4ed",
    name="weekly-sql",
    place=HERE,
    made_at=MONDAY,
    cap_micro=None,
    last_slot="2026-11-20T12:00",
    subscribers=(),
)
SLOT = "2026-11-23T09:00"


@dataclass(slots=True)
class Clock:
    """A clock that stands still until it is moved."""

    moment: datetime = MONDAY

    def __call__(self) -> datetime:
        return self.moment

    def move(self, **by: float) -> None:
        self.moment += timedelta(**by)


@dataclass(slots=True)
class FakeRuns:
    """Records the bake-offs to run; each ends at once, unless `goes_on` or `refused` is set."""

    goes_on: bool = False
    refused: str = ""
    started: list[Bakeoff] = field(default_factory=list)
    shown_in: list[Chat | None] = field(default_factory=list)

    async def __call__(self, app: AppContext, chat: Chat | None, bakeoff: Bakeoff) -> None:
        self.started.append(bakeoff)
        self.shown_in.append(chat)
        if self.refused:
            raise PostingForbiddenError(self.refused)
        if not self.goes_on:
            await bakeoff_stores(app).bakeoffs.end(bakeoff.id, Ending(app.now()))

    @property
    def ids(self) -> list[str]:
        return [bakeoff.id for bakeoff in self.started]


@dataclass(slots=True)
class FakeRoom(FakeChat):
    """A chat that records its messages; some of its channels can be gone."""

    is_room = True
    posted: list[tuple[str, str]] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        if place.channel in self.gone:
            raise PostingForbiddenError("It is archived.")
        self.posted.append((place.channel, post.summary))
        return await FakeChat.send(self, place, post, key)

    async def check_postable(self, place: Place) -> None:
        if place.channel in self.gone:
            raise PostingForbiddenError("It is archived.")

    def private_place(self, asker_id: str, place: Place) -> Place:
        return replace(place, channel=asker_id, private=True)


@dataclass(slots=True)
class SchedulerHarness:
    """A scheduler with its app, clock, chat and runs; a test fires its timers."""

    app: AppContext
    clock: Clock
    chat: FakeRoom
    runs: FakeRuns
    scheduler: Scheduler

    async def save_schedule(self, schedule: Schedule = WEEKLY) -> None:
        await bakeoff_stores(self.app).schedules.save(schedule)

    async def load_schedule(self, schedule_id: str = WEEKLY.id) -> Schedule:
        (found,) = [
            x for x in await bakeoff_stores(self.app).schedules.list_all() if x.id == schedule_id
        ]
        return found

    async def fire(self) -> None:
        """Fire as a timer does, and wait for what was started."""
        await self.scheduler.fire(WEEKLY.id)
        await self.settled()

    async def reload(self) -> None:
        await self.scheduler.reload()
        await self.settled()

    async def settled(self) -> None:
        await self.scheduler.tasks.settled()


async def make_harness(
    stores: BakeoffStores | None = None, clock: Clock | None = None
) -> SchedulerHarness:
    """Return a scheduler in an app whose chat is connected; stores can be shared."""
    clock, chat, runs, app = clock or Clock(), FakeRoom(), FakeRuns(), an_app()
    app.now, app.chats["slack"] = clock, lambda _: chat
    if stores:
        app.parts.add(stores)
    await bakeoff_stores(app).suites.save(SQL, "U1", clock())
    return SchedulerHarness(app, clock, chat, runs, Scheduler(app, runs))


@dataclass(slots=True)
class Timer:
    """APScheduler's handling of the trigger of a schedule, at a clock that is moved by hand."""

    harness: SchedulerHarness
    schedule: Schedule
    next_time: datetime = MONDAY
    trigger: SlotTrigger = field(init=False)

    def __post_init__(self) -> None:
        self.trigger = SlotTrigger(schedule_slots(self.schedule))
        self.next_time = self.trigger.get_next_fire_time(None, self.harness.clock())

    async def tick(self) -> None:
        """Fire if it is time, and wait for the slot after that."""
        now = self.harness.clock()
        if self.next_time <= now:
            await self.harness.scheduler.fire(self.schedule.id)
            self.next_time = self.trigger.get_next_fire_time(self.next_time, now)
