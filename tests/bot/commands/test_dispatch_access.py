"""Access rules in a chat: refused with a sentence, and nothing stored or spent."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest

from bot.access import Access, ChannelRules, RoundLimitError
from bot.admission import admit_round
from bot.chat import Asker, IncomingMessage
from bot.commands.ask import open_round
from bot.context import AppContext
from council.places import Place
from council.rounds import Question
from tests.bot.app_fakes import ANA, BEN, HERE, an_app, replies_to
from tests.builders import ASKED_AT, a_panel, a_round
from tests.fakes.gateway import SlowStore

GUEST = Asker("U3", "Gil", is_guest=True)
CHEAP = replace(a_panel(2), name="cheap")


@dataclass(slots=True)
class Clock:
    """The time, moved by hand."""

    now: datetime = ASKED_AT

    def __call__(self) -> datetime:
        return self.now


@dataclass(slots=True)
class CommandHarness:
    """An app with access rules and a clock, and the messages that it handles."""

    access: Access
    clock: Clock = field(default_factory=Clock)
    app: AppContext = field(init=False)

    def __post_init__(self) -> None:
        self.app = an_app(panels=[a_panel(), CHEAP])
        self.app.access, self.app.now = self.access, self.clock

    async def send(self, text: str, asker: Asker = ANA, place: Place = HERE, key: str = "k") -> str:
        """Send a message; return the replies."""
        return await replies_to(self.app, text, asker, place, key)

    async def ask(self, key: str, asker: Asker = ANA, place: Place = HERE) -> bool:
        """Open a question's round; return False if it was open before."""
        message = IncomingMessage("Why?", asker, place, key)
        return await open_round(self.app, message) is not None

    async def at(self, minutes: float) -> "CommandHarness":
        """Set the clock to so many minutes after the first question."""
        self.clock.now = ASKED_AT + timedelta(minutes=minutes)
        return self


@pytest.mark.parametrize("text", ["Why?", "rounds", "show last", "panel", "budget", "forget beef1"])
async def test_every_command_is_refused_without_access(text: str) -> None:
    harness = CommandHarness(Access())

    reply = await harness.send(f"/council {text}", GUEST)

    assert reply.startswith("Guests can't use the council. Ask a member to ask for you, or contact")
    assert await harness.app.store.ids() == ()


async def test_help_is_for_everybody() -> None:
    harness = CommandHarness(Access(channels=()))

    for text in ("/council help", "/council"):
        assert "ask the council" in (await harness.send(text, GUEST)).lower()
    assert "`/council show [ROUND]`" in await harness.send("/council help show", GUEST)


async def test_a_channel_has_its_own_panel_unless_another_is_picked_or_named() -> None:
    app = CommandHarness(Access(rules={"C1": ChannelRules(panel="cheap")})).app

    assert app.panel(None, HERE).name == "cheap"
    assert app.panel(None, replace(HERE, channel="C2")).name == "house"
    assert app.panel("house", HERE).name == "house"
    await app.pick_panel("house", HERE)
    assert app.panel(None, HERE).name == "house"


async def test_a_panel_of_other_providers_is_neither_asked_nor_picked_nor_listed() -> None:
    rules = {"C1": ChannelRules("cheap", ("anthropic", "openai"))}
    harness = CommandHarness(Access(rules=rules))

    for text in ("panel:house Why?", "panel house"):
        assert "Only models from anthropic, openai may be used" in await harness.send(text)

    listed = await harness.send("panel")
    assert "cheap (in use)" in listed
    assert "house" not in listed
    assert (await harness.app.store.ids(), harness.app.chosen) == ((), {})


async def test_a_round_beyond_the_limit_is_refused_until_the_first_is_old_enough() -> None:
    harness = CommandHarness(Access(rounds_per_hour=2))
    await (await harness.at(0.5)).ask("a")
    await (await harness.at(20)).ask("b")

    reply = await (await harness.at(40)).send("Why?", key="c")

    assert reply == (
        "You have asked 2 rounds in the last hour, which is the limit. You can ask again from "
        "2026-11-21 10:01 UTC."
    )
    assert await harness.app.store.ids() == ("a", "b")
    assert await harness.ask("d", BEN)  # each person has a limit of their own
    assert not await harness.ask("b")  # a repeated event is no new round
    assert await (await harness.at(61)).ask("c")


async def test_the_days_limit_names_the_day() -> None:
    harness = CommandHarness(Access(rounds_per_hour=1, rounds_per_day=1))
    await harness.ask("a")

    with pytest.raises(RoundLimitError, match=r"last 24 hours.*on 22 November at 09:00 UTC\.$"):
        await harness.ask("b")


async def test_of_two_at_once_at_the_limit_one_is_admitted() -> None:
    harness = CommandHarness(Access(rounds_per_hour=1))
    harness.app.store = SlowStore()

    found = await asyncio.gather(*(harness.ask(key) for key in "ab"), return_exceptions=True)

    assert [type(one) for one in found if one is not True] == [RoundLimitError]
    assert len(await harness.app.store.ids()) == 1


@pytest.mark.parametrize(
    "question",
    [
        pytest.param(Question("Why?", "web:1", place=Place("web")), id="page"),
        pytest.param(Question("Why?", "", place=HERE), id="nobody"),
        pytest.param(Question("Why?", ANA.id, place=HERE), id="bake-off"),
    ],
)
async def test_what_goes_by_no_limit(question: Question) -> None:
    app = CommandHarness(Access(rounds_per_hour=1)).app
    round_ = replace(a_round(question=question), asked_at=ASKED_AT)
    round_ = replace(round_, bakeoff="bo:1" if question.asked_by == ANA.id else "")

    opened = [await admit_round(app, replace(round_, id=key)) for key in "ab"]

    assert opened == [True, True]


async def test_a_guests_own_channel_is_all_a_guest_reads() -> None:
    harness = CommandHarness(Access(guests=True))
    await harness.ask("slack:T1:C1:1")
    await harness.ask("slack:T1:C2:2", place=replace(HERE, channel="C2"))

    def named(text: str) -> Sequence[str]:
        return [key for key in ("slack:T1:C1:1", "slack:T1:C2:2") if key in text]

    assert named(await harness.send("rounds", GUEST)) == ["slack:T1:C1:1"]
    assert "There is no round" in await harness.send("show slack:T1:C2:2", GUEST)
    assert len(named(await harness.send("rounds"))) == 2
