"""Access rules in a chat: refused with a sentence, and nothing stored or spent."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest

from bot.access import Access, ChannelRules, RoundLimitError
from bot.chat import Asker, IncomingMessage
from bot.commands.ask import open_round
from bot.commands.dispatch import handle_message
from bot.context import AppContext
from council.places import Place
from council.rounds import Question
from tests.bot.app_fakes import FakeChat, an_app
from tests.builders import ASKED_AT, a_panel, a_round
from tests.fakes.gateway import SlowStore

ANA, BEN, GUEST = Asker("U1", "Ana"), Asker("U2", "Ben"), Asker("U3", "Gil", is_guest=True)
HERE = Place("slack", "T1", "C1")
CHEAP = replace(a_panel(2), name="cheap")


@dataclass(slots=True)
class Clock:
    """The time, moved by hand."""

    now: datetime = ASKED_AT

    def __call__(self) -> datetime:
        return self.now


@dataclass(slots=True)
class Office:
    """A desk with rules, its clock, and what is said at it."""

    access: Access
    clock: Clock = field(default_factory=Clock)
    app: AppContext = field(init=False)

    def __post_init__(self) -> None:
        self.app = an_app(panels=[a_panel(), CHEAP])
        self.app.access, self.app.now = self.access, self.clock

    async def hears(
        self, text: str, asker: Asker = ANA, place: Place = HERE, key: str = "k"
    ) -> str:
        """Give what is said back."""
        chat = FakeChat()
        await handle_message(self.app, chat, IncomingMessage(text, asker, place, key))
        return "\n".join(chat.said)

    async def asked(self, key: str, asker: Asker = ANA, place: Place = HERE) -> bool:
        """Have a question taken in; give False for one that was before."""
        return (
            await open_round(self.app, IncomingMessage("Why?", asker, place, key), "Why?")
            is not None
        )

    async def at(self, minutes: float) -> "Office":
        """Have it so many minutes after the first question."""
        self.clock.now = ASKED_AT + timedelta(minutes=minutes)
        return self


@pytest.mark.parametrize("text", ["Why?", "rounds", "show last", "panel", "budget", "forget beef1"])
async def test_whoever_is_not_admitted_is_told_so_whatever_they_say(text: str) -> None:
    office = Office(Access())

    said = await office.hears(f"/council {text}", GUEST)

    assert said.startswith("The council is not open to guests: ")
    assert await office.app.store.ids() == ()


async def test_help_is_for_everybody() -> None:
    office = Office(Access(channels=()))

    assert "put a question to the panel" in await office.hears("/council help", GUEST)
    assert "put a question to the panel" in await office.hears("/council", GUEST)


async def test_a_channel_has_its_own_panel_unless_another_is_picked_or_named() -> None:
    app = Office(Access(rules={"C1": ChannelRules(panel="cheap")})).app

    assert app.panel(None, HERE).name == "cheap"
    assert app.panel(None, replace(HERE, channel="C2")).name == "house"
    assert app.panel("house", HERE).name == "house"
    await app.pick_panel("house", HERE)
    assert app.panel(None, HERE).name == "house"


async def test_a_panel_of_other_providers_is_neither_asked_nor_picked_nor_listed() -> None:
    rules = {"C1": ChannelRules("cheap", ("anthropic", "openai"))}
    office = Office(Access(rules=rules))

    for text in ("panel:house Why?", "panel house"):
        assert "Only models of anthropic, openai may be used" in await office.hears(text)

    listed = await office.hears("panel")
    assert "cheap (in use)" in listed
    assert "house" not in listed
    assert (await office.app.store.ids(), office.app.chosen) == ((), {})


async def test_a_round_beyond_the_limit_is_refused_until_the_first_is_old_enough() -> None:
    office = Office(Access(rounds_per_hour=2))
    await (await office.at(0.5)).asked("a")
    await (await office.at(20)).asked("b")

    said = await (await office.at(40)).hears("Why?", key="c")

    assert said == (
        "You have asked 2 rounds in the last hour, as many as are allowed: the next one is free at "
        "10:01 UTC."
    )
    assert await office.app.store.ids() == ("a", "b")
    assert await (await office.at(61)).asked("c")


async def test_a_round_is_free_in_the_very_minute_that_was_told() -> None:
    office = Office(Access(rounds_per_hour=1))
    await office.asked("a")

    with pytest.raises(RoundLimitError, match=r"1 round in the last hour.* at 10:00 UTC\.$"):
        await (await office.at(59.9)).asked("b")
    assert await (await office.at(60)).asked("b")


async def test_rounds_of_bakeoffs_count_under_no_limit_of_who_asked() -> None:
    office = Office(Access(rounds_per_hour=1))
    asked = Question("Why?", ANA.id, place=HERE)
    await office.app.store.open(replace(a_round(question=asked), id="bo:1.1", bakeoff="bo:1"))

    assert await office.asked("a")


async def test_the_days_limit_names_the_day() -> None:
    office = Office(Access(rounds_per_hour=1, rounds_per_day=1))
    await office.asked("a")

    with pytest.raises(RoundLimitError, match=r"last 24 hours.*on 22 November at 09:00 UTC\.$"):
        await office.asked("b")


async def test_each_has_a_limit_of_their_own() -> None:
    office = Office(Access(rounds_per_hour=1))

    assert [await office.asked("a"), await office.asked("b", BEN)] == [True, True]


async def test_an_event_that_comes_again_at_the_limit_is_no_new_round() -> None:
    office = Office(Access(rounds_per_hour=1))

    assert [await office.asked("a"), await office.asked("a")] == [True, False]


async def test_of_two_at_once_at_the_limit_one_is_admitted() -> None:
    office = Office(Access(rounds_per_hour=1))
    office.app.store = SlowStore()

    found = await asyncio.gather(*(office.asked(key) for key in "ab"), return_exceptions=True)

    assert [type(one) for one in found if one is not True] == [RoundLimitError]
    assert len(await office.app.store.ids()) == 1


@pytest.mark.parametrize(
    "question",
    [
        pytest.param(Question("Why?", "web:1", place=Place("web")), id="page"),
        pytest.param(Question("Why?", "", place=HERE), id="nobody"),
    ],
)
async def test_what_goes_by_no_limit(question: Question) -> None:
    app = Office(Access(rounds_per_hour=1)).app

    opened_ = [
        await app.open(replace(a_round(question=question), id=key, asked_at=ASKED_AT))
        for key in "ab"
    ]

    assert opened_ == [True, True]


async def test_a_guests_own_channel_is_all_a_guest_reads() -> None:
    office = Office(Access(guests=True))
    await office.asked("slack:T1:C1:1")
    await office.asked("slack:T1:C2:2", place=replace(HERE, channel="C2"))

    def named(text: str) -> Sequence[str]:
        return [key for key in ("slack:T1:C1:1", "slack:T1:C2:2") if key in text]

    assert named(await office.hears("rounds", GUEST)) == ["slack:T1:C1:1"]
    assert "There is no round" in await office.hears("show slack:T1:C2:2", GUEST)
    assert len(named(await office.hears("rounds"))) == 2


async def test_an_admin_has_a_round_of_another_forgotten() -> None:
    office = Office(Access(admins=(BEN.id,)))
    await office.asked("slack:T1:C1:1")

    assert "is forgotten" in await office.hears("forget slack:T1:C1:1", BEN)
