"""`/council bakeoff try`: proposed with what it can show and costs, started by a button or form."""

from dataclasses import replace

import pytest

from bot.access import Access, ChannelRules
from bot.bakeoffs.commands.forms import INCUMBENT, MODEL, PANEL, SUITE
from bot.bakeoffs.lifecycle import watch_bakeoff
from bot.bakeoffs.parts import bakeoff_registry, bakeoff_stores
from bot.bakeoffs.render.bakeoffs import TRY
from bot.bakeoffs.render.trials import START_TRIAL, TRY_BUTTON
from bot.chat import Asker, Button, Buttons, IncomingMessage
from bot.commands.dispatch import handle_message, report_errors
from bot.commands.forms import FieldError
from bot.context import AppContext
from council.bakeoffs.models import Bakeoff
from tests.bot.app_fakes import ANA, BEN, BUTTONS, Room, an_app
from tests.bot.bakeoffs.fakes import HERE, a_bakeoff, a_graded_suite, run_to_end
from tests.builders import ASKED_AT, CLAUDE, GPT, GROK, a_member, a_panel
from tests.fakes.gateway import FakeGateway

SUITE_OF_SIX = a_graded_suite(*["42"] * 6)
OTHER = replace(a_panel(2), name="other", members=(a_member(GROK), a_member(GPT)))


@pytest.fixture
async def app() -> AppContext:
    app = an_app(FakeGateway({CLAUDE: "41", GROK: "42"}), panels=[a_panel(), OTHER])
    await bakeoff_stores(app).suites.save(SUITE_OF_SIX, "U1", ASKED_AT)
    return app


def message(text: str = "", asker: Asker = ANA, key: str = "0123456789ab") -> IncomingMessage:
    return IncomingMessage(text, asker, HERE, key)


async def propose(app: AppContext, options: str = "", asker: Asker = ANA) -> Room:
    chat = Room()
    text = f"/council bakeoff try {GROK} graded {options}"
    await handle_message(app, chat, message(text, asker))
    return chat


def find_button(chat: Room, action: str) -> Button:
    rows = [part for post in chat.posts for part in post.parts if isinstance(part, Buttons)]
    return next(one for row in rows for one in row.buttons if one.action == action)


async def press(app: AppContext, chat: Room, pressed: Button, asker: Asker = ANA) -> None:
    heard = message(asker=asker, key="press")
    handler = BUTTONS.handlers[pressed.action]
    await report_errors(chat, heard, handler(app, chat, heard, pressed.value))


async def the_trial(app: AppContext) -> Bakeoff:
    """Return the trial that was started, at its end."""
    newest = (await bakeoff_stores(app).bakeoffs.list_recent())[0]
    async for _ in watch_bakeoff(app, newest):
        pass
    return await bakeoff_stores(app).bakeoffs.load(newest.id)


async def test_a_proposal_says_what_it_can_show_before_anything_is_spent(app: AppContext) -> None:
    (words,) = (await propose(app, "cap:$1.50")).whispered

    assert "Try of Grok 4 against Claude Sonnet 4.6 on graded" in words
    assert "6 questions can show a difference of about 41 points." in words
    assert "Claude Sonnet 4.6 is asked 6 questions, too, since there is no earlier" in words
    assert "[Start] [Cancel]" in words
    assert await bakeoff_stores(app).bakeoffs.list_recent() == ()


async def test_a_press_starts_it_once_and_its_result_has_the_sentence(app: AppContext) -> None:
    chat = await propose(app, f"incumbent:{CLAUDE}")
    start = find_button(chat, START_TRIAL)

    await press(app, chat, start)
    trial = await the_trial(app)
    await press(app, chat, start)

    assert trial.panel.trial
    assert trial.panel.trial.candidate == GROK
    assert trial.ending
    assert "Switch to Grok 4: right on 6 of 6 where Claude Sonnet 4.6 is on 0" in chat.edited[-1]
    assert "[Try another model]" in chat.edited[-1]
    assert "has already started" in chat.whispered[-1]
    assert len(await bakeoff_stores(app).bakeoffs.list_recent()) == 1


async def test_with_now_it_starts_at_once(app: AppContext) -> None:
    await propose(app, "now")

    assert (await the_trial(app)).ending


async def test_a_button_of_an_edited_suite_or_an_unknown_one_starts_nothing(
    app: AppContext,
) -> None:
    chat = await propose(app)
    edited = replace(SUITE_OF_SIX, questions=SUITE_OF_SIX.questions[:3])
    await bakeoff_stores(app).suites.save(edited, "U1", ASKED_AT)

    await press(app, chat, find_button(chat, START_TRIAL))
    await press(app, chat, Button(START_TRIAL, "Start", "unknown"))

    assert "Suite graded has changed since you saw the cost." in chat.whispered[-2]
    assert "This button can't be read any more." in chat.whispered[-1]
    assert await bakeoff_stores(app).bakeoffs.list_recent() == ()


async def test_a_candidate_of_the_panel_is_refused(app: AppContext) -> None:
    chat = Room()
    await handle_message(app, chat, message(f"/council bakeoff try {GPT} graded"))

    assert "GPT-5.1 is already in panel house." in chat.whispered[-1]


async def test_only_admins_try_models(app: AppContext) -> None:
    app.access = Access(admins=("U999",))

    chat = await propose(app, asker=BEN)

    assert "[Start]" not in chat.whispered[-1]


# --- The form, which the button of a finished bake-off opens


async def test_the_button_of_a_finished_bakeoff_opens_a_form_with_its_suite(
    app: AppContext,
) -> None:
    chat = Room()
    await run_to_end(app, chat, a_bakeoff(SUITE_OF_SIX))
    assert "[Try another model]" in chat.edited[-1]

    form = await BUTTONS.forms[TRY].open(app, message(), "bo:beef")
    empty = await BUTTONS.forms[TRY].open(app, message(), TRY_BUTTON.value)

    assert {one.name: getattr(one, "initial", "") for one in form.fields} == {
        MODEL: "",
        SUITE: "graded",
        PANEL: "house",
        INCUMBENT: "",
    }
    assert {one.name: getattr(one, "initial", "") for one in empty.fields}[SUITE] == ""


async def test_the_form_shows_the_cost_and_marks_a_wrong_model(app: AppContext) -> None:
    chat, values = Room(), {MODEL: GROK, SUITE: "graded", PANEL: "house", INCUMBENT: ""}
    submit = BUTTONS.forms[TRY].submit

    await submit(app, chat, message(), "bo:beef", values)
    with pytest.raises(FieldError, match="already in panel") as wrong:
        await submit(app, chat, message(), "bo:beef", values | {MODEL: GPT})

    assert "[Start] [Cancel]" in chat.whispered[-1]
    assert wrong.value.field == MODEL
    assert not bakeoff_registry(app).latest("bo:0123456789ab")


async def test_a_candidate_of_a_provider_that_is_not_allowed_here_is_refused(
    app: AppContext,
) -> None:
    only = ChannelRules(vendors=("anthropic", "openai", "gemini"))
    app.access = Access(rules={HERE.within: only})

    chat = await propose(app)

    assert "[Start]" not in chat.whispered[-1]
    assert "xai" in chat.whispered[-1]
