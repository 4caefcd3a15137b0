"""`/council bakeoff`: propose with the cost, start, list, show, cancel, resume."""

import asyncio
from dataclasses import replace

import pytest

from bot.access import Access
from bot.bakeoffs.commands.bakeoffs import new_bakeoff, proposal_value, proposed_bakeoff
from bot.bakeoffs.parts import bakeoff_registry, bakeoff_stores
from bot.bakeoffs.render.bakeoffs import LEAVE, START
from bot.bakeoffs.render.matrix import METHODS_NOTE
from bot.chat import Asker, Button, Buttons, Chat, IncomingMessage
from bot.commands.dispatch import handle_message, report_errors
from bot.context import AppContext
from council.bakeoffs.models import Ending
from council.errors import CouncilError
from council.methods import known_methods
from council.places import Place
from tests.bot.app_fakes import ANA, BEN, BUTTONS, FakeChat, Room, an_app
from tests.bot.app_fakes import replies_to as printed_replies_to
from tests.bot.bakeoffs.fakes import HERE, a_bakeoff, a_suite, store_bakeoff
from tests.builders import ASKED_AT, CLAUDE, a_panel
from tests.council.research.registries import LABORATORY
from tests.fakes.gateway import FakeGateway, Hangs

DIRECT = Place("slack", "T1", "D1", private=True)


@pytest.fixture
async def app() -> AppContext:
    app = an_app(panels=[a_panel(), replace(a_panel(4), name="large")])
    await bakeoff_stores(app).suites.save(a_suite(2), "U1", ASKED_AT)
    return app


async def send(
    app: AppContext, text: str, chat: Chat, asker: Asker = ANA, place: Place = HERE
) -> None:
    await handle_message(app, chat, IncomingMessage(text, asker, place, "0123456789ab"))


async def replies_to(app: AppContext, text: str, asker: Asker = ANA, place: Place = HERE) -> str:
    """Send a command in a channel; return every ephemeral reply to it."""
    chat = Room()
    await send(app, f"/council {text}", chat, asker, place)
    return "\n".join(chat.whispered)


@pytest.mark.parametrize("cap", ["much", "$0", "-1"])
async def test_a_cap_is_an_amount_of_dollars(app: AppContext, cap: str) -> None:
    assert f"{cap!r} is not an amount of money" in await replies_to(app, f"bakeoff sql cap:{cap}")


async def test_the_cost_is_shown_before_anything_is_spent(app: AppContext) -> None:
    chat = Room()

    await send(app, "/council bakeoff sql cap:$1.50", chat)

    (words,) = chat.whispered
    assert "Bake-off of sql by house" in words
    assert "2 questions, each for Claude Sonnet 4.6, GPT-5.1 and Gemini 3 Pro." in words
    assert "It costs nothing, with a cap of $1.50." in words
    assert "The questions go to" in words
    assert "[Start] [Cancel]" in words
    assert await bakeoff_stores(app).bakeoffs.list_recent() == ()


def button(chat: Room, action: str) -> Button:
    found = [
        b for p in chat.posts for part in p.parts if isinstance(part, Buttons) for b in part.buttons
    ]
    return next(one for one in found if one.action == action)


async def press(app: AppContext, chat: Room, pressed: Button, asker: Asker = ANA) -> None:
    heard = IncomingMessage("", asker, HERE, "press")
    await report_errors(
        chat, heard, BUTTONS.handlers[pressed.action](app, chat, heard, pressed.value)
    )


async def test_a_press_begins_it_once(app: AppContext) -> None:
    chat = Room()
    await send(app, "/council bakeoff sql panel:large cap:$2", chat)
    start = button(chat, START)

    await press(app, chat, button(chat, LEAVE))
    assert chat.whispered[-1] == "Nothing was started, and nothing is spent."
    assert await bakeoff_stores(app).bakeoffs.list_recent() == ()
    await press(app, chat, start)
    await press(app, chat, start)

    (bakeoff,) = await bakeoff_stores(app).bakeoffs.list_recent()
    assert (bakeoff.id, bakeoff.panel.name) == ("bo:0123456789ab", "large")
    assert (bakeoff.cap_micro, bakeoff.asked_by, bakeoff.place) == (2_000_000, "U1", HERE)
    assert bakeoff.ending
    assert "The bake-off of sql has started: 2 questions." in chat.whispered[2]
    assert "This bake-off has already started" in chat.whispered[-1]
    assert "2 of 2 questions" in chat.edited[-1]


async def test_several_methods_are_compared_by_a_button_or_at_once(app: AppContext) -> None:
    chat, both = Room(), "method:both-orders method:blind-ranking method:both-orders"

    await send(app, f"/council bakeoff sql {both} cap:$2", chat)
    await press(app, chat, button(chat, START))
    await handle_message(
        app, chat, IncomingMessage("bakeoff sql method:both-orders now", ANA, HERE, "one")
    )

    assert (
        "2 questions × 2 methods (both-orders and blind-ranking), each for Claude Sonnet 4.6"
        in chat.whispered[0]
    )
    one, several = await bakeoff_stores(app).bakeoffs.list_recent()
    if one.suite.methods:  # both began in the same second
        one, several = several, one
    assert several.suite.methods == ("both-orders", "blind-ranking")
    assert (len(several.suite.questions), several.cap_micro) == (4, 2_000_000)
    assert (one.suite.methods, one.panel.terms.method) == ((), "both-orders")
    (result,) = [text for text in chat.edited if "4 of 4 rounds" in text]
    assert METHODS_NOTE in result
    assert "fewer than 10 rounds" not in result


@pytest.mark.parametrize(
    ("method", "why"), [("guess", "There is no method"), ("panel-of-judges", "outside judge")]
)
async def test_a_method_that_does_not_fit_is_refused(
    app: AppContext, method: str, why: str
) -> None:
    assert why in await replies_to(app, f"bakeoff sql method:both-orders method:{method} now")
    assert await bakeoff_stores(app).bakeoffs.list_recent() == ()


async def test_where_there_are_no_buttons_the_hint_names_the_methods(app: AppContext) -> None:
    said = await printed_replies_to(app, "bakeoff sql method:both-orders,blind-ranking cap:2")

    command = "bakeoff sql panel:house method:both-orders method:blind-ranking cap:$2.00 now"
    assert f"Start it with `/council {command}`." in said


async def test_a_button_with_every_method_fits_discord_and_none_is_read_as_another(
    app: AppContext,
) -> None:
    app.registry = LABORATORY
    message = IncomingMessage("", ANA, HERE, "1444000000000000000")
    proposed = replace(await new_bakeoff(app, message, "sql", "large"), cap_micro=99_000_000)

    value = proposal_value(proposed, known_methods(LABORATORY), LABORATORY)

    assert len(f"council:{START}:{value}") <= 100  # what Discord takes
    with pytest.raises(CouncilError, match="methods have changed"):
        await proposed_bakeoff(app, message, f"{value[:-1]}{'0' if value[-1] != '0' else '1'}")
    with pytest.raises(CouncilError, match="can't be read"):
        await proposed_bakeoff(app, message, f"{value[:-4]}Z{value[-3:]}")


async def test_a_press_is_authorised_again(app: AppContext) -> None:
    chat = Room()
    await send(app, "/council bakeoff sql", chat)
    app.access = Access(channels=("C9",))

    await press(app, chat, button(chat, START), BEN)

    assert "The council is off in this channel" in chat.whispered[-1]
    assert await bakeoff_stores(app).bakeoffs.list_recent() == ()


async def test_a_suite_that_changed_since_is_proposed_anew(app: AppContext) -> None:
    chat = Room()
    await send(app, "/council bakeoff sql", chat)
    await bakeoff_stores(app).suites.save(a_suite(5), "U1", ASKED_AT)

    await press(app, chat, button(chat, START))

    assert "Suite sql has changed since you saw the cost" in chat.whispered[-1]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("nonsense", "This button can't be read any more"),
        ("a.b.c.d.", "no longer exists"),
    ],
)
async def test_a_forged_button_begins_nothing(app: AppContext, value: str, sentence: str) -> None:
    chat = Room()

    await press(app, chat, Button(START, "Start", value))

    assert sentence in chat.whispered[-1]


async def test_an_unknown_suite_or_panel_is_refused_with_the_known_ones(app: AppContext) -> None:
    assert await replies_to(app, "bakeoff law") == "There is no suite 'law'. Known suites: sql."
    assert "Known panels: house, large" in await replies_to(app, "bakeoff sql panel:small")


async def test_in_a_terminal_a_word_begins_it_and_progress_is_shown(app: AppContext) -> None:
    chat, place = FakeChat(), Place("terminal")

    await send(app, "bakeoff sql", chat, place=place)
    await send(app, "bakeoff sql now", chat, place=place)

    assert "Start it with `/council bakeoff sql panel:house now`." in chat.said[0]
    assert "2 of 2 questions" in "\n".join(chat.said)


class Page(FakeChat):
    """Nobody stays to watch."""

    shows_progress = False


async def test_a_bakeoff_of_the_page_resumes_by_itself(app: AppContext) -> None:
    chat = Page()

    await send(app, "bakeoff sql now", chat, place=Place("web", channel="web:1"))
    (bakeoff,) = await bakeoff_stores(app).bakeoffs.list_recent()
    seen = [progress async for progress in bakeoff_registry(app).subscribe(bakeoff.id)]

    assert len(chat.said) == 1
    assert seen[-1].is_complete


async def test_leaving_the_terminal_cancels_its_round() -> None:
    app = an_app(FakeGateway({CLAUDE: Hangs()}))
    await bakeoff_stores(app).suites.save(a_suite(2), "U1", ASKED_AT)
    chat, place = FakeChat(), Place("terminal")
    talking = asyncio.create_task(send(app, "bakeoff sql now", chat, place=place))
    while not (  # noqa: ASYNC110
        there := await bakeoff_stores(app).bakeoffs.list_recent()
    ) or not app.runner.latest(f"{there[0].id}.2"):
        await asyncio.sleep(0)

    talking.cancel()
    await asyncio.gather(talking, return_exceptions=True)

    (bakeoff,) = await bakeoff_stores(app).bakeoffs.list_recent()
    assert bakeoff.ending
    assert bakeoff.ending.failure == "It was cancelled."
    assert app.runner.latest(f"{bakeoff.id}.1") is None


async def test_bakeoffs_are_shown_to_people_who_can_read_their_place(app: AppContext) -> None:
    await replies_to(app, "bakeoff sql now")

    listed = await replies_to(app, "bakeoff", BEN)
    shown = await replies_to(app, "bakeoff show last", BEN)

    assert "sql on house · By the judges’ points, Gemini 3 Pro leads with 100 %" in listed
    assert "[Open]" in listed
    assert "Bake-off of sql by house" in shown
    assert "Question 2?" in await replies_to(app, "show bo:0123456789ab.2", BEN)


async def test_rounds_of_other_workspaces_and_private_places_stay_hidden(app: AppContext) -> None:
    await store_bakeoff(app, a_bakeoff(place=DIRECT))
    stranger = Place("slack", "T2", "C1")

    assert "No bake-offs yet" in await replies_to(app, "bakeoff list")
    assert "There is no bake-off 'bo:beef' here" in await replies_to(app, "bakeoff show bo:beef")
    assert "There is no bake-off" in await replies_to(app, "bakeoff cancel beef", place=stranger)
    assert "[Open]" in await replies_to(app, "bakeoff list", place=DIRECT)


async def test_only_an_admin_starts_cancels_and_resumes_a_bakeoff(app: AppContext) -> None:
    await store_bakeoff(app, a_bakeoff())

    for text in ("bakeoff sql", "bakeoff cancel last", "bakeoff resume last"):
        assert "Only admins can" in await replies_to(app, text, BEN)
    app.access = Access(admins=(BEN.id,))
    assert "The bake-off of sql is cancelled. 0 of 3 questions are saved" in await replies_to(
        app, "bakeoff cancel beef", BEN
    )
    assert "has already ended" in await replies_to(app, "bakeoff cancel last", BEN)
    assert "is resumed" in await replies_to(app, "bakeoff resume last", ANA)
    assert (await bakeoff_stores(app).bakeoffs.load("bo:beef")).ending


async def test_cancelling_a_bakeoff_that_does_not_run_is_posted_in_its_place(
    app: AppContext,
) -> None:
    await store_bakeoff(app, a_bakeoff())
    chat = Room()

    await send(app, "/council bakeoff cancel last", chat)
    async for _ in bakeoff_registry(app).subscribe("bo:beef"):
        pass

    assert "It was cancelled. 0 of 3 questions are saved" in chat.edited[-1]


async def test_a_bakeoff_is_resumed_under_another_cap(app: AppContext) -> None:
    await store_bakeoff(app, a_bakeoff(cap=5))
    await bakeoff_stores(app).bakeoffs.end("bo:beef", Ending(ASKED_AT, "The cap is reached."))

    await replies_to(app, "bakeoff resume last cap:$2")

    assert (await bakeoff_stores(app).bakeoffs.load("bo:beef")).cap_micro == 2_000_000
