"""Shared clock: all processes agree on the time, whatever their machines say."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.chat import Line, Post
from bot.coordination.clock import SharedClock
from bot.outbox import GRACE_SECONDS, Outbox
from council.errors import StoreError
from council.places import Place
from storage.engine import open_engine
from storage.locks import server_time
from storage.outbox import SqlOutbox
from tests.bot.test_outbox import ChatDownError, Clock, FakeChat

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HERE = Place("slack", "T1", "C1")
POST = Post((Line("Hello"),), "Hello")


class Wall:
    """A clock on the wall, which somebody may set."""

    def __init__(self, shows: datetime = NOON) -> None:
        self.shows = shows

    def __call__(self) -> datetime:
        return self.shows

    async def asked(self) -> datetime:
        return self.shows


async def test_a_clock_that_is_wrong_tells_the_time_that_all_share() -> None:
    ours = Wall(NOON - MINUTE)
    clock = SharedClock(Wall().asked, ours)

    await clock.sync()
    ours.shows += timedelta(seconds=5)

    assert abs(clock.now() - (NOON + timedelta(seconds=5))) < timedelta(seconds=0.1)
    assert clock.behind_seconds == pytest.approx(60, abs=0.1)


async def test_a_clock_that_was_set_wrong_meanwhile_is_right_after_the_next_look() -> None:
    ours, looks = Wall(), 0
    clock = SharedClock(Wall().asked, ours)
    await clock.sync()

    async def sleep(_: float) -> None:
        nonlocal looks
        looks += 1
        ours.shows = NOON + MINUTE
        if looks == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await clock.keep_in_sync(sleep)

    assert abs(clock.now() - NOON) < timedelta(seconds=0.1)


async def test_the_offset_stays_while_the_reference_clock_fails() -> None:
    ours, there = Wall(NOON - MINUTE), True

    async def ask() -> datetime:
        if not there:
            raise StoreError("The database is away.")
        return NOON

    clock = SharedClock(ask, ours)
    await clock.sync()
    there = False
    with pytest.raises(StoreError):
        await clock.sync()

    assert abs(clock.now() - NOON) < timedelta(seconds=0.1)


async def test_the_database_tells_the_time(migrated_url: str) -> None:
    engine = open_engine(migrated_url)

    moment = await server_time(engine)
    await engine.dispose()

    assert abs(moment - datetime.now(UTC)) < timedelta(seconds=5)


@pytest.mark.parametrize("apart", [MINUTE, -MINUTE], ids=["ahead", "behind"])
async def test_a_claim_of_a_process_whose_clock_is_a_minute_off_is_waited_for_as_long_as_any(
    migrated_url: str, apart: timedelta
) -> None:
    engine = open_engine(migrated_url)
    chat, ours, theirs = FakeChat(fails=["before"]), Clock(), Clock()
    ours.now, theirs.now = datetime.now(UTC), datetime.now(UTC) + apart
    with pytest.raises(ChatDownError):
        await Outbox(SqlOutbox(engine), theirs, theirs.sleep).send(chat, "r1", 0, POST, HERE)

    await Outbox(SqlOutbox(engine), ours, ours.sleep).send(chat, "r1", 0, POST, HERE)
    await engine.dispose()

    [waited] = ours.slept
    assert GRACE_SECONDS - 2 < waited <= GRACE_SECONDS
    assert len(chat.sent) == 1


async def test_claims_that_lie_are_counted_by_the_databases_time(migrated_url: str) -> None:
    engine = open_engine(migrated_url)
    outgoing = SqlOutbox(engine)
    await outgoing.claim("lies", "r1", NOON)
    await outgoing.claim("sent", "r1", NOON)
    await outgoing.mark("sent", "m1")

    counts = [await outgoing.count_unmarked(seconds, NOON) for seconds in (0.0, 60.0)]
    await engine.dispose()

    assert counts == [1, 0]
