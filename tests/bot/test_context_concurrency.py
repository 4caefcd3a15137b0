"""The limit of running rounds in a workspace."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeVar

import pytest

from bot.access import Access, RoundLimitError
from bot.admission import admit_round, dismissed_at_end
from bot.chat import Asker, IncomingMessage
from bot.commands.buttons import resume_round
from bot.commands.dispatch import handle_message
from bot.context import AppContext
from council.errors import CouncilError
from council.money import Price
from council.panel import Member
from council.places import Place
from council.rounds import Closing, Question, Round
from tests.bot.app_fakes import ANA, BEN, HERE, FakeChat, an_app
from tests.builders import ASKED_AT, CLAUDE, a_round
from tests.fakes.gateway import FakeGateway, Hangs, SlowStore
from tests.fakes.memory_store import MemoryStore
from tests.storage.builders import a_closed_round
from tests.wire.faults import until

T = TypeVar("T")
ONE = Access(rounds_at_once=1)
ELSEWHERE = (
    replace(HERE, workspace="T2"),
    replace(HERE, chat="discord"),
    Place("web"),
    Place("discord", "", "D1", private=True),
)


class Room(FakeChat):
    """A chat whose rounds go on when nobody watches."""

    is_room = True


@dataclass(slots=True)
class AppHarness:
    """A desk with a limit, whose models never answer."""

    access: Access = ONE
    app: AppContext = field(default_factory=lambda: an_app(FakeGateway({CLAUDE: Hangs()})))
    now: datetime = ASKED_AT + timedelta(seconds=10)

    def __post_init__(self) -> None:
        self.app.access, self.app.now = self.access, lambda: self.now

    async def ask(self, key: str, asker: Asker = ANA, place: Place = HERE) -> str:
        """Ask a question; return the replies once its round is running or refused."""
        chat = Room()
        asking = asyncio.create_task(
            handle_message(self.app, chat, IncomingMessage("Why?", asker, place, key))
        )
        await until(lambda: self.app.runner.latest(key) or asking.done(), 10, lambda: chat.said)
        asking.cancel()
        await asyncio.wait([asking])
        return "\n".join(chat.said)

    async def cancel(self, key: str) -> None:
        await handle_message(self.app, FakeChat(), IncomingMessage(f"cancel {key}", ANA, HERE, "c"))


async def test_a_round_above_the_limit_is_refused_with_a_time_and_not_stored() -> None:
    harness = AppHarness()
    await harness.ask("a1a1")

    reply = await harness.ask("b1b1", BEN)

    assert reply == (
        "1 round is running in this workspace, which is the limit. Ask again once it has its "
        "answer."
    )
    assert await harness.app.store.ids() == ("a1a1",)
    assert not await admit_round(harness.app, asked("a1a1", ANA))  # a repeated event is not refused
    await harness.cancel("a1a1")
    assert "which is the limit" not in await harness.ask("b1b1")  # once another has ended
    await harness.cancel("b1b1")


async def test_a_refusal_names_the_usual_time_if_known() -> None:
    harness = AppHarness(Access(rounds_at_once=1, workspaces={"T1": Access(rounds_at_once=2)}))
    for number in range(3):
        closed = replace(a_closed_round(f"r{number}"), closing=Closing(60.0))
        await harness.app.store.open(closed)
    for key in ("a1a1", "b1b1"):
        await harness.ask(key)
    harness.now += timedelta(seconds=25)

    reply = await harness.ask("c1c1")

    assert "2 rounds are running" in reply
    assert reply.endswith("once one of them has its answer, usually in about 35 s.")
    for key in ("a1a1", "b1b1"):
        await harness.cancel(key)


@pytest.mark.parametrize("place", ELSEWHERE, ids=["workspace", "chat", "page", "direct"])
async def test_each_workspace_has_room_of_its_own(place: Place) -> None:
    harness = AppHarness()
    await harness.ask("a1a1")

    await harness.ask("b1b1", BEN, place)

    assert harness.app.runner.latest("b1b1")
    for key in ("a1a1", "b1b1"):
        await harness.app.runner.stop(key)


async def test_of_two_at_the_same_moment_one_is_taken_in() -> None:
    app = AppHarness().app
    app.store = SlowStore()

    found = await asyncio.gather(
        *(admit_round(app, asked(key, by)) for key, by in (("a1a1", ANA), ("b1b1", BEN))),
        return_exceptions=True,
    )

    assert [type(one) for one in found if one is not True] == [RoundLimitError]
    assert len(await app.store.ids()) == 1


async def test_prices_are_loaded_before_the_database_is_held() -> None:
    class Held(MemoryStore):
        is_held = False

        async def together(self, work: Callable[[], Awaitable[T]]) -> T:
            self.is_held = True
            try:
                return await super().together(work)
            finally:
                self.is_held = False

    class Priced(FakeGateway):
        async def price(self, seat: Member) -> Price | None:
            held.append(store.is_held)
            return await super().price(seat)

    store, held = Held(), list[bool]()

    await admit_round(an_app(Priced(), store), asked("a1a1", ANA))

    assert held
    assert not any(held)


async def test_one_that_a_fault_has_stopped_takes_no_room() -> None:
    app = AppHarness().app
    stopped = asked("a1a1", ANA)
    await admit_round(app, stopped)
    with pytest.raises(CouncilError), dismissed_at_end(app, stopped):
        raise CouncilError("The disk is full.")

    assert await admit_round(app, asked("b1b1", BEN))


async def test_a_resumed_round_waits_for_its_turn_too() -> None:
    harness = AppHarness()
    app, chat = harness.app, FakeChat()
    await harness.ask("a1a1")
    await harness.cancel("a1a1")
    await harness.ask("b1b1", BEN)

    with pytest.raises(RoundLimitError, match="1 round is running"):
        await resume_round(app, chat, IncomingMessage("", ANA, HERE, "k"), "a1a1")

    assert (await app.store.load_summary("a1a1")).paused
    await app.runner.stop("b1b1")


def asked(key: str, by: Asker) -> Round:
    round_ = a_round(question=Question("Why?", by.id, place=HERE))
    return replace(round_, id=key)
