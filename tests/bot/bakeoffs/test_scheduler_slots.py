"""Slots: started once, or the reason posted."""

from dataclasses import replace

import pytest

from bot.access import Access, ChannelRules
from bot.bakeoffs.commands.schedules import new_scheduled_bakeoff
from bot.bakeoffs.parts import bakeoff_stores
from council.bakeoffs.models import Schedule
from council.errors import StoreError
from council.places import Place
from tests.bot.bakeoffs.scheduler_fakes import (
    HERE,
    SLOT,
    SQL,
    WEEKLY,
    SchedulerHarness,
    make_harness,
)
from tests.fakes.bakeoffs.memory_bakeoffs import MemorySchedules

ID = f"sched:{WEEKLY.id}@{SLOT}"


@pytest.fixture
async def harness() -> SchedulerHarness:
    """Return a scheduler a minute before its only schedule is due."""
    harness = await make_harness()
    await harness.save_schedule()
    return harness


async def test_at_its_slot_the_suite_is_put_to_the_panel_once_under_the_slots_id(
    harness: SchedulerHarness,
) -> None:
    await harness.save_schedule(replace(WEEKLY, cap_micro=2_000_000))
    await harness.reload()
    assert harness.runs.ids == []
    harness.clock.move(minutes=1)

    for _ in range(3):
        await harness.fire()
        await harness.reload()

    (bakeoff,) = harness.runs.started
    assert (bakeoff.id, bakeoff.schedule, bakeoff.asked_by) == (ID, WEEKLY.id, "U1")
    assert (bakeoff.suite, bakeoff.panel.name, bakeoff.place) == (SQL, "house", HERE)
    assert bakeoff.cap_micro == 2_000_000
    assert harness.runs.shown_in == [harness.chat]
    assert (await harness.load_schedule()).last_slot == SLOT


async def test_a_crash_before_the_slot_is_marked_starts_nothing_twice(
    harness: SchedulerHarness,
) -> None:
    harness.clock.move(minutes=1)
    await bakeoff_stores(harness.app).bakeoffs.open(
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
        "Schedule weekly-sql, run of Mon 23 Nov 2026 09:00: it could not start within 60 "
        "minutes, so this run is skipped. The next run is Mon 30 Nov 2026 09:00 (UTC)."
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
    assert "the previous run is still going, so this run is skipped" in text
    assert "The next run is Mon 7 Dec 2026 09:00" in text
    assert (await harness.load_schedule()).last_slot == "2026-11-30T09:00"


async def test_a_paused_or_removed_schedule_does_not_start(harness: SchedulerHarness) -> None:
    await harness.save_schedule(replace(WEEKLY, paused=True))
    harness.clock.move(minutes=1)
    await harness.fire()
    await bakeoff_stores(harness.app).schedules.remove(WEEKLY.id)

    await harness.fire()

    assert harness.runs.ids == []


@pytest.mark.parametrize(("minutes", "ids"), [(50, [ID]), (300, [])])
async def test_a_chat_that_is_not_connected_is_waited_for(
    harness: SchedulerHarness, minutes: int, ids: list[str]
) -> None:
    find_chat = harness.app.chats.pop("slack")
    harness.clock.move(minutes=minutes)
    await harness.reload()
    assert harness.runs.ids == []
    harness.app.chats["slack"] = find_chat

    await harness.reload()

    assert harness.runs.ids == ids
    assert ["this run is skipped" in text for _, text in harness.chat.posted] == [True] * (not ids)


async def test_a_schedule_of_the_page_needs_no_chat(harness: SchedulerHarness) -> None:
    del harness.app.chats["slack"]
    await bakeoff_stores(harness.app).suites.save(SQL, "U1", harness.clock())
    await harness.save_schedule(replace(WEEKLY, place=Place("web"), scope=""))
    await bakeoff_stores(harness.app).suites.save(replace(SQL, scope=""), "U1", harness.clock())
    harness.clock.move(minutes=1)

    await harness.fire()

    assert harness.runs.ids == [ID]
    assert harness.runs.shown_in == [None]


OTHER_VENDORS = Access(rules={"C1": ChannelRules(vendors=("mistral",))})


@pytest.mark.parametrize(
    ("changed", "access", "gone", "why"),
    [
        ({"suite": "law"}, Access(), "", "There is no suite 'law'"),
        ({"panel": "velvet"}, Access(), "", "There is no panel 'velvet'. Known panels: house."),
        ({}, Access(channels=("C9",)), "", "The council is off in this channel"),
        ({}, OTHER_VENDORS, "", "Only models from mistral may be used in this channel"),
        ({}, Access(), "C1", "It is archived."),
    ],
)
async def test_a_schedule_that_cannot_run_is_paused_and_its_author_notified_once(
    harness: SchedulerHarness, changed: dict[str, str], access: Access, gone: str, why: str
) -> None:
    await harness.save_schedule(replace(WEEKLY, **changed))  # type: ignore[arg-type]
    harness.app.access, harness.chat.gone = access, {gone}
    harness.clock.move(minutes=1)

    for _ in range(3):
        await harness.fire()
        await harness.reload()

    assert harness.runs.ids == []
    ((channel, text),) = harness.chat.posted
    assert channel == "U1"
    assert text.startswith("Your schedule weekly-sql can't run, so it is paused. ")
    assert why in text
    assert "`/council schedule resume weekly-sql`" in text
    assert (await harness.load_schedule()).paused


@pytest.mark.parametrize(
    ("gone", "refused", "hours", "posted"),
    [
        pytest.param(set(), "The channel is gone.", 0.1, ["U1"], id="missing-at-the-start"),
        pytest.param({"C1", "U1"}, "", 0.1, [], id="its-author-is-gone-too"),
        pytest.param({"C1"}, "", 2, ["U1"], id="a-skip-that-cannot-be-posted"),
    ],
)
async def test_a_schedule_that_cannot_post_is_paused(
    harness: SchedulerHarness, gone: set[str], refused: str, hours: float, posted: list[str]
) -> None:
    harness.chat.gone, harness.runs.refused = gone, refused
    harness.clock.move(hours=hours)

    await harness.fire()

    assert [channel for channel, _ in harness.chat.posted] == posted
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
    harness.app.parts.add(replace(bakeoff_stores(harness.app), schedules=Failing()))
    await harness.save_schedule()
    harness.clock.move(minutes=1)
    await harness.fire()
    await harness.reload()

    await harness.reload()

    assert harness.runs.ids == [ID]


async def test_an_invalid_schedule_does_not_stop_the_others(harness: SchedulerHarness) -> None:
    await harness.save_schedule(replace(WEEKLY, id="bad", name="bad", zone="Mars/Olympus"))
    await harness.save_schedule(replace(WEEKLY, id="worse", name="worse", cron="whenever"))
    harness.clock.move(minutes=1)

    await harness.reload()

    assert harness.runs.ids == [ID]
