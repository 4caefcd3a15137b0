"""`/council cancel`: spends nothing more, keeps what exists, stops only that round."""

from dataclasses import replace

import pytest

from bot.access import Access
from bot.chat import Asker
from bot.commands.rounds import NOTHING_RUNNING
from bot.context import AppContext
from council.places import Place
from council.ports import RoundQuery
from council.rounds import Closing, Question, Round
from tests.bot.app_fakes import ANA, BEN, HERE, an_app, replies_to
from tests.builders import ASKED_AT, CLAUDE, a_round, an_answer
from tests.fakes.gateway import FakeGateway, Hangs
from tests.fakes.memory_store import MemoryStore

KEPT = "2 of 3 answers are saved"


@pytest.fixture
def app() -> AppContext:
    return an_app(FakeGateway({CLAUDE: Hangs()}))


def asked(round_id: str = "beef1", by: Asker = ANA, place: Place = HERE) -> Round:
    return replace(a_round(question=Question("Why?", by.id, place=place)), id=round_id)


async def under_way(app: AppContext, round_: Round) -> None:
    """Run a round until two of three members have answered."""
    await app.store.open(round_)
    app.runner.start(round_)
    async with app.runner.subscribe(round_.id) as sights:
        async for sight in sights:
            if len(sight.round_.answers) == 2:
                return


async def test_the_asker_cancels_a_round_and_sees_what_is_stored(app: AppContext) -> None:
    await under_way(app, asked())

    line = await replies_to(app, "/council cancel beef1")

    assert line == (
        f"“Why?” is cancelled. {KEPT}. No more models are asked, and nothing more is spent."
    )
    assert app.runner.latest("beef1") is None
    assert len((await app.store.load("beef1")).answers) == 2
    assert await app.store.ids(wanted=RoundQuery(unfinished=True)) == ()


async def test_last_is_ones_own_newest_that_is_unfinished(app: AppContext) -> None:
    later = replace(asked("beef2"), asked_at=ASKED_AT.replace(hour=10))
    latest = replace(asked("beef3", BEN), asked_at=ASKED_AT.replace(hour=11))
    closed = replace(asked("beef4"), asked_at=ASKED_AT.replace(hour=12), closing=Closing(1.0))
    for round_ in (asked(), later, latest, closed):
        await app.store.open(round_)

    for round_id in ("beef2", "beef1"):
        assert "“Why?” is cancelled" in await replies_to(app, "cancel last")
        assert (await app.store.load_summary(round_id)).paused
    assert await replies_to(app, "cancel last") == NOTHING_RUNNING


async def test_nobody_else_but_an_admin_of_the_place_may(app: AppContext) -> None:
    await app.store.open(asked())
    await app.store.open(asked("feed2", place=Place("slack", "T1", "D1", private=True)))

    refused = await replies_to(app, "cancel beef1", BEN)
    assert refused == "Only the person who asked can cancel a round."
    assert not (await app.store.load_summary("beef1")).paused
    app.access = Access(admins=(BEN.id,))
    assert "“Why?” is cancelled. 0 of 3 answers" in await replies_to(app, "cancel beef1", BEN)
    assert "There is no round 'feed2' here" in await replies_to(app, "cancel feed2", BEN)


async def test_a_round_that_is_over_is_not_cancelled_again(app: AppContext) -> None:
    await app.store.open(asked("beef1").with_(an_answer()))
    await app.store.open(asked("beef2").with_(Closing(1.0)))
    await app.store.open(asked("beef3"))
    await app.store.forget("beef3", ASKED_AT, "salt")
    await replies_to(app, "cancel beef1")

    cancelled, closed, forgotten = [
        await replies_to(app, f"cancel beef{number}") for number in (1, 2, 3)
    ]

    assert cancelled.startswith("“Why?” is cancelled. 1 of 3 answers is saved.")
    assert closed == "“Why?” has already finished. Its answer is where you asked."
    assert "were forgotten on 2026-11-21" in forgotten
    assert not (await app.store.load_summary("beef2")).paused


class ClosingStore(MemoryStore):
    """Has a round come to its end while it is being cancelled."""

    async def pause(self, round_id: str, *, paused: bool) -> None:
        await super().pause(round_id, paused=paused)
        await self.save(round_id, Closing(1.0))


async def test_a_round_that_ends_meanwhile_is_closed_and_not_cancelled() -> None:
    app = an_app(store=ClosingStore())
    await app.store.open(asked())

    assert "has already finished" in await replies_to(app, "cancel beef1")
    assert not (await app.store.load_summary("beef1")).paused
