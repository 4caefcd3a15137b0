"""Deciding disputed points in any chat: offered, priced, paid for once, posted once."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.access import Access, AccessDeniedError, RoundLimitError
from bot.chat import Asker, IncomingMessage
from bot.commands.button_registry import submit_form
from bot.commands.decide import (
    BUSY,
    DONE_ALREADY,
    GONE,
    MEANWHILE,
    NOBODY_WROTE,
    OPEN,
    WRITING,
    begin_decision,
    follow_decision,
    open_decide_form,
)
from bot.commands.dispatch import handle_message
from bot.commands.forms import RadioField
from bot.commands.round_delivery import follow_and_deliver
from bot.context import AppContext
from bot.render.round_report.decisions import BEFORE, DECIDE
from bot.render.round_report.thread import round_post
from council.answers import Call, Reply
from council.budget import Budget
from council.budget_caps import Caps
from council.decisions import MAX_DECISIONS, NOTHING_CHOSEN, NOTHING_DISPUTED
from council.errors import BudgetError, CouncilError, DecisionError, GatewayError
from council.money import Price
from council.ports import RoundQuery
from council.rounds import Question, Round
from tests.bot.app_fakes import ANA, BEN, HERE, FakeChat, Room, an_app
from tests.builders import ASKED_AT, CLAUDE, GEMINI, GPT, a_round
from tests.disputes import (
    BROKER,
    NO,
    OLD_TEXT,
    YES,
    a_decision,
    a_disputed_round,
    disputed,
    obedient_reply,
)
from tests.fakes.gateway import FakeGateway
from tests.fakes.memory_store import MemoryStore

PRICED = dict.fromkeys((GPT, CLAUDE, GEMINI), Price(1e-6, 1e-5))


class Chairman(FakeGateway):
    """A chairman that takes decisions as given, once it is released."""

    def __init__(self, *, is_held: bool = False) -> None:
        super().__init__(prices=PRICED)
        if not is_held:
            self.released.set()

    async def complete(self, call: Call) -> Reply:
        self.asked.append(call)
        if call.on_text:
            call.on_text("Sett")
        await self.released.wait()
        return Reply(obedient_reply(call.prompt.user), cost_usd=0.02)


def here(round_id: str = "abcd1234") -> Round:
    asked = Question("Is Postgres enough for a job queue?", ANA.id, place=HERE)
    return disputed(replace(a_round(question=asked), id=round_id))


async def an_app_with(
    round_: Round, gateway: FakeGateway | None = None, store: MemoryStore | None = None
) -> AppContext:
    app = an_app(gateway or Chairman(), store)
    await app.store.open(round_)
    return app


def says(text: str, by: Asker = ANA, key: str = "e1") -> IncomingMessage:
    return IncomingMessage(text, by, HERE, key)


async def form_values(app: AppContext, round_: Round, position: str = YES) -> Mapping[str, str]:
    form = await open_decide_form(app, says("", key="opened"), round_.id)
    values = {}
    for field in form.fields:
        assert isinstance(field, RadioField)
        chosen = next(one for one in field.options if one.label in {position, "Leave open"})
        values[field.name] = chosen.value
    return values


async def decide(app: AppContext, room: Room, message: IncomingMessage, round_: Round) -> None:
    await submit_form(app, room, message, DECIDE, round_.id, await form_values(app, round_))


async def test_the_form_has_positions_in_words_and_the_cost() -> None:
    app = await an_app_with(here())

    form = await open_decide_form(app, says(""), "abcd1234")

    (field,) = form.fields
    assert isinstance(field, RadioField)
    assert field.label == BROKER
    assert [one.label for one in field.options] == [YES, NO, "Leave open"]
    assert field.chosen.value == OPEN
    assert "Never more than" in form.note
    assert "$0.0" in form.note


async def test_the_askers_decision_replaces_the_answer_which_stays_below() -> None:
    app, room, round_ = await an_app_with(here()), Room(), here()
    await follow_and_deliver(app, room, HERE, round_)
    before = len(room.posted)

    await decide(app, room, says("", ANA), round_)

    after = await app.store.load(round_.id)
    assert after.final
    assert YES in after.final.text
    assert YES in room.edited[-1]
    assert OLD_TEXT not in room.edited[-1]
    (posted,) = [text for _, text in room.posted[before:]]
    assert BEFORE in posted
    assert OLD_TEXT in posted
    assert WRITING in room.whispered[-1]


async def test_anybody_elses_decision_is_a_reply() -> None:
    app, room, round_ = await an_app_with(here()), Room(), here()
    await follow_and_deliver(app, room, HERE, round_)
    before = len(room.posted)

    await decide(app, room, says("", BEN), round_)

    after = await app.store.load(round_.id)
    assert after.final == round_.synthesis
    assert OLD_TEXT in room.edited[-1]
    (posted,) = [text for _, text in room.posted[before:]]
    assert f"decided: {BROKER} “{YES}”" in posted.replace("**", "")
    assert f"Settled: {YES}." in posted


async def test_a_crash_after_the_decision_posts_everything_once() -> None:
    app, room, round_ = await an_app_with(here()), Room(), here()
    await follow_and_deliver(app, room, HERE, round_)
    wanted = ((BROKER, YES),)
    running = await begin_decision(app, says(""), round_, wanted, is_posted=True)
    assert running
    decided = await follow_decision(running)  # then the process ends

    undelivered = await app.store.ids(wanted=RoundQuery(undelivered=True))
    for _ in range(3):
        await follow_and_deliver(app, room, HERE, decided)

    assert undelivered == (round_.id,)
    assert len(room.keys) == len({*room.keys})
    assert sum(BEFORE in text for _, text in room.posted) == 1
    assert await app.store.ids(wanted=RoundQuery(undelivered=True)) == ()


async def test_of_two_at_once_one_wins_and_the_other_is_told() -> None:
    gateway = Chairman(is_held=True)
    app, round_ = await an_app_with(here(), gateway), here()
    wanted = ((BROKER, YES),)

    first = await begin_decision(app, says("", ANA), round_, wanted)
    with pytest.raises(DecisionError, match=BUSY):
        await begin_decision(app, says("", BEN, "e2"), round_, ((BROKER, NO),))
    gateway.released.set()

    assert first
    assert [one.by for one in (await follow_decision(first)).decisions] == [ANA.id]
    assert len(gateway.asked) == 1


async def test_a_decision_that_comes_meanwhile_from_another_process_wins() -> None:
    app, round_ = await an_app_with(here()), here()
    await app.store.decide(round_.id, a_decision(by=BEN.id, key="e0"), 1)

    running = await begin_decision(app, says(""), round_, ((BROKER, YES),))

    assert running
    with pytest.raises(DecisionError, match=MEANWHILE):
        await follow_decision(running)
    assert not app.gateway.asked  # type: ignore[attr-defined]


async def test_the_same_event_decides_once() -> None:
    app, room, round_ = await an_app_with(here()), Room(), here()

    for _ in range(2):
        await decide(app, room, says("", ANA), round_)

    assert len((await app.store.load(round_.id)).decisions) == 1
    assert len(app.gateway.asked) == 1  # type: ignore[attr-defined]
    assert room.whispered[-1] == DONE_ALREADY


async def test_a_decision_is_paid_for_by_who_decides() -> None:
    app, room, round_ = await an_app_with(here()), Room(), here()

    await decide(app, room, says("", BEN), round_)

    await asyncio.sleep(0)
    assert (await app.budget.ledger.spent("e1")).micro == 20_000
    assert await app.budget.ledger.list_reserved_rounds() == ()


async def test_who_may_not_spend_is_told_and_nobody_is_asked() -> None:
    app, round_ = await an_app_with(here()), here()
    budget = Budget(app.budget.ledger, Caps(user_day=1), app.now)
    app.budget = budget

    with pytest.raises(BudgetError, match="your budget"):
        await begin_decision(app, says(""), round_, ((BROKER, YES),))

    assert not app.gateway.asked  # type: ignore[attr-defined]


async def test_who_is_at_the_limit_of_rounds_cannot_decide_either() -> None:
    recent = replace(here(), asked_at=ASKED_AT)
    app = await an_app_with(recent)
    app.access, app.now = Access(rounds_per_hour=1), lambda: ASKED_AT + timedelta(minutes=1)

    with pytest.raises(RoundLimitError):
        await begin_decision(app, says(""), recent, ((BROKER, YES),))


async def test_decisions_count_towards_the_limit_of_rounds() -> None:
    app, round_ = await an_app_with(here()), here()
    app.access = Access(rounds_per_hour=2)
    await app.store.decide(round_.id, replace(a_decision(by=BEN.id), at=app.now()), 1)
    decided = await app.store.load(round_.id)

    running = await begin_decision(app, says("", BEN, "e2"), decided, ((BROKER, YES),))
    assert running
    decided = await follow_decision(running)

    with pytest.raises(RoundLimitError, match="asked or decided 2 times"):
        await begin_decision(app, says("", BEN, "e3"), decided, ((BROKER, YES),))


async def test_a_guest_is_refused_kindly() -> None:
    app = await an_app_with(here())

    with pytest.raises(AccessDeniedError, match="Ask a member"):
        await open_decide_form(app, says("", Asker("U3", "Cy", is_guest=True)), "abcd1234")


@pytest.mark.parametrize(
    ("round_", "why"),
    [
        pytest.param(replace(here(), closing=None), "no answer yet", id="running"),
        pytest.param(replace(here(), bakeoff="b1"), NOTHING_DISPUTED, id="bake-off"),
        pytest.param(replace(here(), synthesis=None), NOTHING_DISPUTED, id="no-map"),
        pytest.param(
            replace(here(), decisions=(a_decision(),) * MAX_DECISIONS), "20 times", id="too-many"
        ),
    ],
)
async def test_what_cannot_be_decided_says_why(round_: Round, why: str) -> None:
    app = await an_app_with(round_)

    with pytest.raises(CouncilError, match=why):
        await open_decide_form(app, says(""), round_.id)


async def test_a_form_of_a_forgotten_round_says_so() -> None:
    app, round_ = await an_app_with(here()), here()
    values = await form_values(app, round_)
    await app.store.forget(round_.id, ASKED_AT, "salt")

    with pytest.raises(CouncilError, match="forgotten"):
        await submit_form(app, Room(), says(""), DECIDE, round_.id, values)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        pytest.param({}, NOTHING_CHOSEN, id="nothing"),
        pytest.param({"point-0123456789": OPEN, "token": "x"}, NOTHING_CHOSEN, id="left-open"),
        pytest.param({"point-0123456789": "9876543210"}, GONE, id="a-point-that-is-gone"),
    ],
)
async def test_a_form_without_a_choice_of_the_map_asks_nobody(
    values: Mapping[str, str], why: str
) -> None:
    app = await an_app_with(here())

    with pytest.raises(DecisionError, match=why):
        await submit_form(app, Room(), says(""), DECIDE, "abcd1234", values)


async def test_failing_chairmen_change_nothing() -> None:
    gateway = FakeGateway(chairmen=dict.fromkeys((GPT, CLAUDE, GEMINI), GatewayError("is down")))
    app, round_ = await an_app_with(here(), gateway), here()

    running = await begin_decision(app, says(""), round_, ((BROKER, YES),))

    assert running
    with pytest.raises(DecisionError, match=NOBODY_WROTE):
        await follow_decision(running)
    assert not (await app.store.load(round_.id)).decisions
    assert not app.decisions.get(round_.id)


async def test_a_chairman_that_ignores_a_decision_is_named_above_its_answer() -> None:
    decided = replace(here(), decisions=(a_decision("It depends.", by=ANA.id),))

    texts = [getattr(part, "text", "") for part in round_post(decided).parts]

    assert f"The answer does not follow the decision on: {BROKER}" in texts
    assert texts.index("It depends.") > 0


# --- Typed


async def typed(app: AppContext, line: str, chat: FakeChat | None = None) -> list[str]:
    chat = chat or FakeChat()
    place = replace(HERE, chat="terminal", workspace="", channel="")
    message = IncomingMessage(line, Asker("terminal", "you"), place, app.new_id())
    await handle_message(app, chat, message)
    return chat.said


@pytest.mark.parametrize("line", ["decide", "decide last", "decide ab12", "/council decide"])
async def test_the_terminal_shows_points_and_the_cost_first(line: str) -> None:
    app = await an_app_with(a_disputed_round(round_id="ab12"))

    (said,) = await typed(app, line)

    assert f"**1.** {BROKER}" in said
    assert f"A: “{YES}”" in said
    assert f"B: “{NO}”" in said
    assert "Never more than" in said
    assert not app.gateway.asked  # type: ignore[attr-defined]


async def test_the_terminal_decides_by_number_and_letter() -> None:
    round_ = replace(a_disputed_round(round_id="abcd"))
    round_ = replace(round_, question=replace(round_.question, asked_by="terminal"))
    app = await an_app_with(round_)

    said = await typed(app, "decide last 1=b")

    assert said[0] == WRITING
    assert f"Settled: {NO}." in said[1]
    assert f"Decided: {BROKER} “{NO}”" in said[1]
    assert OLD_TEXT in said[2]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("decide 7=A", "no point 7"),
        ("decide 1=Z", "no position Z"),
        ("decide 1=open", NOTHING_CHOSEN),
    ],
)
async def test_a_typed_choice_that_does_not_exist_is_named(line: str, why: str) -> None:
    app = await an_app_with(a_disputed_round(round_id="abcd"))

    assert why in (await typed(app, line))[0]


async def test_a_question_that_begins_with_decide_is_a_question() -> None:
    app = await an_app_with(here())

    said = await typed(app, "decide whether Postgres is enough for our job queue")

    assert BROKER not in said[0]
