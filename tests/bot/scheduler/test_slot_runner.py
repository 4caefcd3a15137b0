"""Slots: started once, or the reason posted."""

from dataclasses import replace

import pytest

from bot.access import Access, ChannelRules
from bot.commands.schedules import new_scheduled_bakeoff
from council.bakeoffs.models import Schedule
from council.errors import StoreError
from council.places import Place
from tests.bot.scheduler.fakes import HERE, SLOT, SQL, WEEKLY, Watch, a_watch
from tests.fakes.memory_bakeoffs import MemorySchedules

ID = f"sched:{WEEKLY.id}@{SLOT}"


@pytest.fixture
async def watch() -> Watch:
    """Give a scheduler a minute before its only schedule is due."""
    watch = await a_watch()
    await watch.keep()
    return watch


async def test_nothing_is_begun_before_its_slot(watch: Watch) -> None:
    await watch.fire()
    await watch.look()

    assert watch.bakeoff_registry.ids == []


async def test_at_its_slot_the_suite_is_put_to_the_panel_under_the_slots_id(watch: Watch) -> None:
    watch.clock.move(minutes=1)

    await watch.fire()

    (bakeoff,) = watch.bakeoff_registry.held
    assert (bakeoff.id, bakeoff.schedule, bakeoff.asked_by) == (ID, WEEKLY.id, "U1")
    assert (bakeoff.suite, bakeoff.panel.name, bakeoff.place) == (SQL, "house", HERE)
    assert watch.bakeoff_registry.shown_in == [watch.room]
    assert (await watch.row()).last_slot == SLOT


async def test_a_slot_is_begun_once_whoever_comes_first(watch: Watch) -> None:
    watch.clock.move(minutes=1)

    for _ in range(3):
        await watch.fire()
        await watch.look()

    assert watch.bakeoff_registry.ids == [ID]


async def test_who_dies_before_the_slot_is_noted_leaves_nothing_to_begin_twice(
    watch: Watch,
) -> None:
    watch.clock.move(minutes=1)
    await watch.app.bakeoff_stores.bakeoffs.open(
        await new_scheduled_bakeoff(watch.app, WEEKLY, SLOT)
    )

    await watch.look()

    assert watch.bakeoff_registry.ids == []  # whoever goes on with unfinished bake-offs has it
    assert (await watch.row()).last_slot == SLOT
    assert watch.room.posted == []


async def test_after_downtime_the_newest_slot_alone_is_run(watch: Watch) -> None:
    watch.clock.move(weeks=3, minutes=30)

    await watch.look()

    assert watch.bakeoff_registry.ids == [f"sched:{WEEKLY.id}@2026-12-14T09:00"]


async def test_a_slot_that_is_an_hour_late_is_left_out_and_said_once(watch: Watch) -> None:
    watch.clock.move(hours=2)

    for _ in range(3):
        await watch.look()

    assert watch.bakeoff_registry.ids == []
    ((channel, said),) = watch.room.posted
    assert channel == "C1"
    assert said == (
        "Schedule weekly-sql, run of Mon 23 Nov 2026 09:00: I could not run it within 60 minutes, "
        "so it is left out. The next one is Mon 30 Nov 2026 09:00 (UTC)."
    )
    assert (await watch.row()).last_slot == SLOT


async def test_a_slot_is_left_out_while_the_run_before_goes_on_and_that_is_said(
    watch: Watch,
) -> None:
    watch.bakeoff_registry.goes_on = True
    watch.clock.move(minutes=1)
    await watch.fire()
    watch.clock.move(weeks=1)

    await watch.fire()
    await watch.look()

    assert watch.bakeoff_registry.ids == [ID]
    ((_, said),) = watch.room.posted
    assert f"bake-off {ID}, the run before, still goes, so it is left out" in said
    assert "The next one is Mon 7 Dec 2026 09:00" in said
    assert (await watch.row()).last_slot == "2026-11-30T09:00"


async def test_what_is_paused_or_removed_meanwhile_is_not_begun(watch: Watch) -> None:
    await watch.keep(replace(WEEKLY, paused=True))
    watch.clock.move(minutes=1)
    await watch.fire()
    await watch.app.bakeoff_stores.schedules.remove(WEEKLY.id)

    await watch.fire()

    assert watch.bakeoff_registry.ids == []


async def test_a_changed_cron_is_gone_by_at_once(watch: Watch) -> None:
    await watch.keep(replace(WEEKLY, cron="30 9 * * 1"))
    watch.clock.move(minutes=1)

    await watch.fire()

    assert watch.bakeoff_registry.ids == []


async def test_a_chat_that_is_not_connected_is_waited_for(watch: Watch) -> None:
    way = watch.app.chats.pop("slack")
    watch.clock.move(minutes=1)
    await watch.look()
    assert watch.bakeoff_registry.ids == []
    watch.app.chats["slack"] = way
    watch.clock.move(minutes=50)

    await watch.look()

    assert watch.bakeoff_registry.ids == [ID]


async def test_a_chat_that_stays_away_is_told_later_what_was_left_out(watch: Watch) -> None:
    way = watch.app.chats.pop("slack")
    watch.clock.move(hours=5)
    await watch.look()
    watch.app.chats["slack"] = way

    await watch.look()

    assert "is left out" in watch.room.posted[0][1]


async def test_the_page_is_told_nothing_and_needs_no_chat(watch: Watch) -> None:
    del watch.app.chats["slack"]
    await watch.app.bakeoff_stores.suites.save(SQL, "U1", watch.clock())
    await watch.keep(replace(WEEKLY, place=Place("web"), scope=""))
    await watch.app.bakeoff_stores.suites.save(replace(SQL, scope=""), "U1", watch.clock())
    watch.clock.move(minutes=1)

    await watch.fire()

    assert watch.bakeoff_registry.ids == [ID]
    assert watch.bakeoff_registry.shown_in == [None]


async def gone_suite(watch: Watch) -> Schedule:
    await watch.app.bakeoff_stores.suites.remove(SQL.scope, "sql")
    return WEEKLY


async def gone_panel(watch: Watch) -> Schedule:
    return replace(WEEKLY, panel="velvet")


async def closed_channel(watch: Watch) -> Schedule:
    watch.app.access = Access(channels=("C9",))
    return WEEKLY


async def other_vendors(watch: Watch) -> Schedule:
    watch.app.access = Access(rules={"C1": ChannelRules(vendors=("mistral",))})
    return WEEKLY


async def archived_channel(watch: Watch) -> Schedule:
    watch.room.gone = {"C1"}
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
async def test_what_cannot_run_is_paused_and_its_maker_told_once(
    watch: Watch, spoil: object, why: str
) -> None:
    assert callable(spoil)
    await watch.keep(await spoil(watch))
    watch.clock.move(minutes=1)

    for _ in range(3):
        await watch.fire()
        await watch.look()

    assert watch.bakeoff_registry.ids == []
    ((channel, said),) = watch.room.posted
    assert channel == "U1"
    assert said.startswith("Your schedule weekly-sql cannot run, so it is paused. ")
    assert why in said
    assert "`/council schedule resume weekly-sql` goes on" in said
    assert (await watch.row()).paused


async def test_a_channel_that_turns_out_to_be_gone_pauses_it_as_well(watch: Watch) -> None:
    watch.bakeoff_registry.refused = "I cannot post there: the channel is not there any more."
    watch.clock.move(minutes=1)

    await watch.fire()

    ((channel, said),) = watch.room.posted
    assert channel == "U1"
    assert "the channel is not there any more" in said
    assert (await watch.row()).paused


async def test_where_nobody_can_be_told_it_is_paused_all_the_same(watch: Watch) -> None:
    watch.room.gone = {"C1", "U1"}
    watch.clock.move(minutes=1)

    await watch.fire()

    assert watch.room.posted == []
    assert (await watch.row()).paused


async def test_what_was_left_out_and_cannot_be_said_pauses_it(watch: Watch) -> None:
    watch.room.gone = {"C1"}
    watch.clock.move(hours=2)

    await watch.fire()

    ((channel, _),) = watch.room.posted
    assert channel == "U1"
    assert (await watch.row()).paused


class Failing(MemorySchedules):
    """Schedules in a database that is away for so many reads."""

    away = 2

    async def list_all(self, scope: str | None = None) -> tuple[Schedule, ...]:
        self.away -= 1
        if self.away >= 0:
            raise StoreError("The disk is full.")
        return await super().list_all(scope)


async def test_a_database_that_is_away_costs_no_slot(watch: Watch) -> None:
    watch.app.bakeoff_stores = replace(watch.app.bakeoff_stores, schedules=Failing())
    await watch.keep()
    watch.clock.move(minutes=1)
    await watch.fire()
    await watch.look()

    await watch.look()

    assert watch.bakeoff_registry.ids == [ID]


async def test_a_cap_goes_along(watch: Watch) -> None:
    await watch.keep(replace(WEEKLY, cap_micro=2_000_000))
    watch.clock.move(minutes=1)

    await watch.fire()

    assert [bakeoff.cap_micro for bakeoff in watch.bakeoff_registry.held] == [2_000_000]


async def test_a_row_that_somebody_broke_stops_no_other(watch: Watch) -> None:
    await watch.keep(replace(WEEKLY, id="bad", name="bad", zone="Mars/Olympus"))
    await watch.keep(replace(WEEKLY, id="worse", name="worse", cron="whenever"))
    watch.clock.move(minutes=1)

    await watch.look()

    assert watch.bakeoff_registry.ids == [ID]
