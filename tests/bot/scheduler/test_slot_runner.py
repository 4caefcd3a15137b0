"""Slots: started once, or the reason posted."""

from dataclasses import replace

import pytest

from bot.access import Access, ChannelRules
from bot.commands.schedules import new_scheduled_bakeoff
from council.bakeoffs.models import Schedule
from council.errors import StoreError
from council.places import Place
from tests.bot.scheduler.fakes import HERE, SLOT, SQL, WEEKLY, SchedulerHarness, make_harness
from tests.fakes.memory_bakeoffs import MemorySchedules

ID = f"sched:{WEEKLY.id}@{SLOT}"


@pytest.fixture
async def harness() -> SchedulerHarness:
    """Return a scheduler a minute before its only schedule is due."""
    harness = await make_harness()
    await harness.save_schedule()
    return harness


async def test_nothing_starts_before_its_slot(harness: SchedulerHarness) -> None:
    await harness.fire()
    await harness.reload()

    assert harness.runs.ids == []


async def test_at_its_slot_the_suite_is_put_to_the_panel_under_the_slots_id(
    harness: SchedulerHarness,
) -> None:
    harness.clock.move(minutes=1)

    await harness.fire()

    (bakeoff,) = harness.runs.started
    assert (bakeoff.id, bakeoff.schedule, bakeoff.asked_by) == (ID, WEEKLY.id, "U1")
    assert (bakeoff.suite, bakeoff.panel.name, bakeoff.place) == (SQL, "house", HERE)
    assert harness.runs.shown_in == [harness.chat]
    assert (await harness.load_schedule()).last_slot == SLOT


async def test_a_slot_is_started_once(harness: SchedulerHarness) -> None:
    harness.clock.move(minutes=1)

    for _ in range(3):
        await harness.fire()
        await harness.reload()

    assert harness.runs.ids == [ID]


async def test_a_crash_before_the_slot_is_marked_starts_nothing_twice(
    harness: SchedulerHarness,
) -> None:
    harness.clock.move(minutes=1)
    await harness.app.bakeoff_stores.bakeoffs.open(
        await new_scheduled_bakeoff(harness.app, WEEKLY, SLOT)
    )

    await harness.reload()

    assert harness.runs.ids == []  # whoever goes on with unfinished bake-offs has it
    assert (await harness.load_schedule()).last_slot == SLOT
    assert harness.chat.posted == []


async def test_after_downtime_the_newest_slot_alone_is_run(harness: SchedulerHarness) -> None:
    harness.clock.move(weeks=3, minutes=30)

    await harness.reload()

    assert harness.runs.ids == [f"sched:{WEEKLY.id}@2026-12-14T09:00"]


async def test_a_slot_that_is_an_hour_late_is_skipped_with_one_notice(
    harness: SchedulerHarness,
) -> None:
    harness.clock.move(hours=2)

    for _ in range(3):
        await harness.reload()

    assert harness.runs.ids == []
    ((channel, text),) = harness.chat.posted
    assert channel == "C1"
    assert text == (
        "Schedule weekly-sql, run of Mon 23 Nov 2026 09:00: I could not run it within 60 minutes, "
        "so it is left out. The next one is Mon 30 Nov 2026 09:00 (UTC)."
    )
    assert (await harness.load_schedule()).last_slot == SLOT


async def test_a_slot_is_skipped_with_a_notice_while_the_last_run_continues(
    harness: SchedulerHarness,
) -> None:
    harness.runs.goes_on = True
    harness.clock.move(minutes=1)
    await harness.fire()
    harness.clock.move(weeks=1)

    await harness.fire()
    await harness.reload()

    assert harness.runs.ids == [ID]
    ((_, text),) = harness.chat.posted
    assert f"bake-off {ID}, the run before, still goes, so it is left out" in text
    assert "The next one is Mon 7 Dec 2026 09:00" in text
    assert (await harness.load_schedule()).last_slot == "2026-11-30T09:00"


async def test_a_paused_or_removed_schedule_does_not_start(harness: SchedulerHarness) -> None:
    await harness.save_schedule(replace(WEEKLY, paused=True))
    harness.clock.move(minutes=1)
    await harness.fire()
    await harness.app.bakeoff_stores.schedules.remove(WEEKLY.id)

    await harness.fire()

    assert harness.runs.ids == []


async def test_a_changed_cron_takes_effect_at_once(harness: SchedulerHarness) -> None:
    await harness.save_schedule(replace(WEEKLY, cron="30 9 * * 1"))
    harness.clock.move(minutes=1)

    await harness.fire()

    assert harness.runs.ids == []


async def test_a_chat_that_is_not_connected_is_waited_for(harness: SchedulerHarness) -> None:
    find_chat = harness.app.chats.pop("slack")
    harness.clock.move(minutes=1)
    await harness.reload()
    assert harness.runs.ids == []
    harness.app.chats["slack"] = find_chat
    harness.clock.move(minutes=50)

    await harness.reload()

    assert harness.runs.ids == [ID]


async def test_a_slot_missed_while_the_chat_was_away_is_reported_later(
    harness: SchedulerHarness,
) -> None:
    find_chat = harness.app.chats.pop("slack")
    harness.clock.move(hours=5)
    await harness.reload()
    harness.app.chats["slack"] = find_chat

    await harness.reload()

    assert "is left out" in harness.chat.posted[0][1]


async def test_a_schedule_of_the_page_needs_no_chat(harness: SchedulerHarness) -> None:
    del harness.app.chats["slack"]
    await harness.app.bakeoff_stores.suites.save(SQL, "U1", harness.clock())
    await harness.save_schedule(replace(WEEKLY, place=Place("web"), scope=""))
    await harness.app.bakeoff_stores.suites.save(replace(SQL, scope=""), "U1", harness.clock())
    harness.clock.move(minutes=1)

    await harness.fire()

    assert harness.runs.ids == [ID]
    assert harness.runs.shown_in == [None]


async def gone_suite(harness: SchedulerHarness) -> Schedule:
    await harness.app.bakeoff_stores.suites.remove(SQL.scope, "sql")
    return WEEKLY


async def gone_panel(harness: SchedulerHarness) -> Schedule:
    return replace(WEEKLY, panel="velvet")


async def closed_channel(harness: SchedulerHarness) -> Schedule:
    harness.app.access = Access(channels=("C9",))
    return WEEKLY


async def other_vendors(harness: SchedulerHarness) -> Schedule:
    harness.app.access = Access(rules={"C1": ChannelRules(vendors=("mistral",))})
    return WEEKLY


async def archived_channel(harness: SchedulerHarness) -> Schedule:
    harness.chat.gone = {"C1"}
    return WEEKLY


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (gone_suite, "There is no suite 'sql'"),
        (gone_panel, "There is no panel 'velvet'; known panels: house."),
        (closed_channel, "The council is not open in this channel"),
        (other_vendors, "Only models of mistral may be used in this channel"),
        (archived_channel, "It is archived."),
    ],
)
async def test_a_schedule_that_cannot_run_is_paused_and_its_author_told_once(
    harness: SchedulerHarness, spoil: object, why: str
) -> None:
    assert callable(spoil)
    await harness.save_schedule(await spoil(harness))
    harness.clock.move(minutes=1)

    for _ in range(3):
        await harness.fire()
        await harness.reload()

    assert harness.runs.ids == []
    ((channel, text),) = harness.chat.posted
    assert channel == "U1"
    assert text.startswith("Your schedule weekly-sql cannot run, so it is paused. ")
    assert why in text
    assert "`/council schedule resume weekly-sql` goes on" in text
    assert (await harness.load_schedule()).paused


async def test_a_channel_that_is_found_missing_at_the_start_pauses_the_schedule(
    harness: SchedulerHarness,
) -> None:
    harness.runs.refused = "I cannot post there: the channel is not there any more."
    harness.clock.move(minutes=1)

    await harness.fire()

    ((channel, text),) = harness.chat.posted
    assert channel == "U1"
    assert "the channel is not there any more" in text
    assert (await harness.load_schedule()).paused


async def test_a_schedule_is_paused_even_if_its_author_cannot_be_told(
    harness: SchedulerHarness,
) -> None:
    harness.chat.gone = {"C1", "U1"}
    harness.clock.move(minutes=1)

    await harness.fire()

    assert harness.chat.posted == []
    assert (await harness.load_schedule()).paused


async def test_a_skip_that_cannot_be_posted_pauses_the_schedule(harness: SchedulerHarness) -> None:
    harness.chat.gone = {"C1"}
    harness.clock.move(hours=2)

    await harness.fire()

    ((channel, _),) = harness.chat.posted
    assert channel == "U1"
    assert (await harness.load_schedule()).paused


class Failing(MemorySchedules):
    """Schedules in a database that is away for so many reads."""

    away = 2

    async def list_all(self, scope: str | None = None) -> tuple[Schedule, ...]:
        self.away -= 1
        if self.away >= 0:
            raise StoreError("The disk is full.")
        return await super().list_all(scope)


async def test_a_database_that_is_away_costs_no_slot(harness: SchedulerHarness) -> None:
    harness.app.bakeoff_stores = replace(harness.app.bakeoff_stores, schedules=Failing())
    await harness.save_schedule()
    harness.clock.move(minutes=1)
    await harness.fire()
    await harness.reload()

    await harness.reload()

    assert harness.runs.ids == [ID]


async def test_a_scheduled_bakeoff_has_the_cap_of_its_schedule(harness: SchedulerHarness) -> None:
    await harness.save_schedule(replace(WEEKLY, cap_micro=2_000_000))
    harness.clock.move(minutes=1)

    await harness.fire()

    assert [bakeoff.cap_micro for bakeoff in harness.runs.started] == [2_000_000]


async def test_an_invalid_schedule_does_not_stop_the_others(harness: SchedulerHarness) -> None:
    await harness.save_schedule(replace(WEEKLY, id="bad", name="bad", zone="Mars/Olympus"))
    await harness.save_schedule(replace(WEEKLY, id="worse", name="worse", cron="whenever"))
    harness.clock.move(minutes=1)

    await harness.reload()

    assert harness.runs.ids == [ID]
