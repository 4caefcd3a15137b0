"""Buttons under a bake-off's posts: each press is authorised again, and none costs unasked."""

from dataclasses import replace

import pytest

from bot.access import Access
from bot.bakeoffs.commands.schedules import GONE
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.render.bakeoffs import QUESTIONS, RESULTS
from bot.bakeoffs.render.schedules import (
    EXTRA_RUN,
    PAUSE,
    RESUME,
    RUN_NOW,
    SUBSCRIBE,
    UNSUBSCRIBE,
)
from bot.chat import Asker, Button, Buttons, IncomingMessage
from bot.commands.button_registry import load_view
from bot.commands.dispatch import handle_message, report_errors
from bot.context import AppContext
from bot.render.lists import COMMAND
from council.bakeoffs.models import Bakeoff, Schedule
from council.errors import CouncilError
from council.money import Price
from council.places import Place
from tests.bot.app_fakes import ANA, BEN, BUTTONS, HERE, Room, an_app
from tests.bot.bakeoffs.fakes import a_bakeoff, a_suite, run_to_end
from tests.bot.rounds import words_of
from tests.builders import ASKED_AT, KEYS
from tests.council.bakeoffs.builders import a_schedule
from tests.fakes.gateway import FakeGateway

GUEST = Asker("U5", "Gus", is_guest=True)
SLOT = "sched:s1@2026-11-23T09:00"


@pytest.fixture
async def app() -> AppContext:
    app = an_app(FakeGateway(prices=dict.fromkeys(KEYS, Price(1e-5, 1e-5, 500))))
    app.now = lambda: ASKED_AT
    await bakeoff_stores(app).suites.save(a_suite(2), "U1", ASKED_AT)
    await bakeoff_stores(app).schedules.save(a_schedule(subscribers=()))
    return app


async def press(
    app: AppContext, action: str, asker: Asker = ANA, value: str = "s1", place: Place = HERE
) -> Room:
    """Press a button; return what its presser was told, and what was posted."""
    chat, message = Room(), IncomingMessage("", asker, place, app.new_id())
    handler = BUTTONS.handlers[action]
    await report_errors(chat, message, handler(app, chat, message, value))
    return chat


async def stored(app: AppContext) -> Schedule:
    (one,) = await bakeoff_stores(app).schedules.list_all()
    return one


def told(chat: Room) -> str:
    return "\n".join(chat.whispered)


def buttons(chat: Room) -> list[Button]:
    parts = (part for post in chat.posts for part in post.parts if isinstance(part, Buttons))
    return [button for part in parts for button in part.buttons]


async def a_run(app: AppContext, chat: Room | None = None) -> Bakeoff:
    """Run the schedule's bake-off to its end."""
    one = replace(a_bakeoff(a_suite(2), id_=SLOT), schedule="s1")
    return (await run_to_end(app, chat, one)).bakeoff


async def test_subscribe_is_for_everybody_and_offers_to_end_it(app: AppContext) -> None:
    first, second = await press(app, SUBSCRIBE, BEN), await press(app, SUBSCRIBE, BEN)

    assert (await stored(app)).subscribers == ("U2",)
    assert "You are mentioned when the results of weekly change." in told(second)
    assert [b.label for b in buttons(first)] == ["Unsubscribe"]
    ended = await press(app, UNSUBSCRIBE, BEN)
    assert (await stored(app)).subscribers == ()
    assert [b.label for b in buttons(ended)] == ["Subscribe"]
    assert ended.posted == []


async def test_run_now_asks_first_with_the_cost(app: AppContext) -> None:
    asked = await press(app, RUN_NOW)

    assert app.gateway.asked == []  # type: ignore[attr-defined]
    assert "Run weekly now?\n2 questions, each for" in told(asked)
    assert "Usually $0.19, never more than $0.3" in told(asked)
    assert [b.label for b in buttons(asked)] == ["Run it", "Cancel"]
    assert {EXTRA_RUN} <= BUTTONS.proposals
    await press(app, EXTRA_RUN)
    (run,) = await bakeoff_stores(app).bakeoffs.list_recent()
    assert (run.schedule, run.asked_by) == ("s1", "U1")


@pytest.mark.parametrize("action", [RUN_NOW, EXTRA_RUN])
async def test_a_second_run_waits_for_the_first(app: AppContext, action: str) -> None:
    running = replace(a_bakeoff(a_suite(2), id_=SLOT), schedule="s1")
    await bakeoff_stores(app).bakeoffs.open(running)

    chat = await press(app, action)

    assert "Schedule 'weekly' is already running. Wait for its result" in told(chat)
    assert app.gateway.asked == []  # type: ignore[attr-defined]
    assert buttons(chat) == []


async def test_pause_and_resume_mean_what_they_say_however_often(app: AppContext) -> None:
    first, second = await press(app, PAUSE), await press(app, PAUSE)

    assert (await stored(app)).paused
    assert "Schedule weekly is paused." in told(second)
    assert [b.label for b in buttons(first)] == ["Resume schedule"]
    await press(app, RESUME)
    resumed = await press(app, RESUME)
    assert not (await stored(app)).paused
    assert "Next: " in told(resumed)


@pytest.mark.parametrize("action", [RUN_NOW, EXTRA_RUN, PAUSE, RESUME])
async def test_only_admins_run_pause_and_resume(app: AppContext, action: str) -> None:
    chat = await press(app, action, BEN)

    assert "Only admins can" in told(chat)
    assert "Ask an admin" in told(chat)
    assert chat.posted == []
    assert app.gateway.asked == []  # type: ignore[attr-defined]
    assert await stored(app) == a_schedule(subscribers=())


@pytest.mark.parametrize("action", [SUBSCRIBE, RUN_NOW, PAUSE])
async def test_a_guest_is_told_whom_to_ask(app: AppContext, action: str) -> None:
    app.access = Access(admins=("U9",))

    assert "Guests can't use the council. Ask a member" in told(await press(app, action, GUEST))
    assert (await stored(app)).subscribers == ()


@pytest.mark.parametrize("action", [SUBSCRIBE, UNSUBSCRIBE, RUN_NOW, EXTRA_RUN, PAUSE, RESUME])
async def test_a_schedule_that_was_removed_or_is_of_another_workspace_is_gone(
    app: AppContext, action: str
) -> None:
    elsewhere = await press(app, action, place=Place("slack", "T2", "C1"))
    await bakeoff_stores(app).schedules.remove("s1")
    await bakeoff_stores(app).schedules.save(a_schedule("s2"))  # of the same name

    assert told(elsewhere) == GONE
    assert told(await press(app, action)) == GONE
    assert await stored(app) == a_schedule("s2")


async def test_a_schedule_that_cannot_run_says_why(app: AppContext) -> None:
    await bakeoff_stores(app).suites.remove("", "sql")

    assert "There is no suite 'sql'" in told(await press(app, RUN_NOW))


async def test_results_and_questions_are_shown_privately_to_who_may_read(app: AppContext) -> None:
    run = await a_run(app, Room())
    here = IncomingMessage("", BEN, HERE, "k")

    (first, *_) = await load_view(app, here, RESULTS, run.id)
    (asked,) = await load_view(app, here, QUESTIONS, run.id)

    assert "# | Model | Points" in words_of(first)
    assert "**1.** Question 1?" in words_of(asked)
    assert "Claude" in words_of(asked)
    opened = [
        button for part in asked.parts if isinstance(part, Buttons) for button in part.buttons
    ]
    assert [(b.action, b.label, b.value) for b in opened] == [
        ("round", "Open 1", run.round_id(1)),
        ("round", "Open 2", run.round_id(2)),
    ]
    for view in (RESULTS, QUESTIONS):
        for elsewhere in (
            replace(here, place=Place("slack", "T2", "C1")),
            replace(here, asker=GUEST, place=replace(HERE, channel="C2")),
        ):
            with pytest.raises(CouncilError, match="can't be opened here") as refused:
                await load_view(app, elsewhere, view, run.id)
            assert "sched:" not in str(refused.value)


async def test_a_post_has_the_schedule_as_it_is_when_the_run_ends(app: AppContext) -> None:
    chat = Room()
    await bakeoff_stores(app).schedules.save(a_schedule(paused=True))

    await a_run(app, chat)

    assert "weekly: running" in chat.posted[0][1]
    assert chat.edited[-1].startswith("weekly: results\n")
    assert "weekly is paused." in chat.edited[-1]
    assert "[Results] [Questions] [Subscribe] [Run now] [Resume schedule]" in chat.edited[-1]


async def test_a_result_whose_schedule_was_removed_has_suite_and_panel(app: AppContext) -> None:
    chat = Room()
    await bakeoff_stores(app).schedules.remove("s1")

    await a_run(app, chat)

    assert chat.edited[-1].startswith("Bake-off of sql by house\n")
    assert "[Results] [Questions]" in chat.edited[-1]
    assert "Subscribe" not in chat.edited[-1]
    assert "sched:" not in "".join([*chat.edited, *(words for _, words in chat.posted)])


async def test_a_post_of_release_0_2_still_opens_its_first_question(app: AppContext) -> None:
    run = await a_run(app)

    chat = await press(app, COMMAND, BEN, f"show {run.round_id(1)}")

    assert "The council says yes." in told(chat)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("run now", "Run weekly now?"),
        ("run now weekly", "Run weekly now?"),
        ("run it", "Run weekly now?"),
        ("subscribe", "You are mentioned"),
        ("unsubscribe", "You are no longer mentioned"),
        ("pause", "Schedule weekly is paused."),
        ("resume schedule", "Schedule weekly"),
        ("questions", "Question 1?"),
    ],
)
async def test_a_typed_word_of_a_button_does_what_the_button_does_and_never_costs(
    app: AppContext, line: str, said: str
) -> None:
    await a_run(app)
    app.gateway.asked.clear()  # type: ignore[attr-defined]
    chat = Room()

    await handle_message(app, chat, IncomingMessage(line, ANA, HERE, "k"))

    assert said in told(chat)
    assert app.gateway.asked == []  # type: ignore[attr-defined]
    assert len(await bakeoff_stores(app).bakeoffs.list_recent()) == 1


async def test_of_several_schedules_a_typed_word_names_them(app: AppContext) -> None:
    await bakeoff_stores(app).schedules.save(a_schedule("s2", name="hourly"))
    chat = Room()

    await handle_message(app, chat, IncomingMessage("pause", ANA, HERE, "k"))

    assert "Name a schedule. Known schedules: " in told(chat)
