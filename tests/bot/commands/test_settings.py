"""`settings`: what holds, forms of typed fields, and what happens between opening and sending."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from structlog.testing import capture_logs

from bot.access import Access, AccessDeniedError, ChannelRules, RoundLimitError
from bot.admin_settings import SETTINGS, USUAL
from bot.chat import Asker, Buttons, IncomingMessage
from bot.commands import ask_form, settings
from bot.commands.ask import AskOptions, open_round
from bot.commands.button_registry import buttons_of, submit_form
from bot.commands.dispatch import run_command
from bot.commands.forms import FieldError, Form
from bot.commands.recovery import delete_workspace
from bot.commands.registry import Invocation, commands_of
from bot.commands.reveal import HELD
from bot.commands.settings import HERE, LABELS, LIMITS, WHO
from bot.commands.thread_context import has_consent, receivers_digest
from bot.context import AppContext
from council.budget_caps import Caps
from council.errors import BudgetError, CouncilError
from council.money import Price
from council.panel import Panel
from council.places import Place
from tests.bot.app_fakes import ANA, BEN, Room, an_app, replies_to
from tests.bot.rounds import words_of
from tests.builders import CLAUDE, GPT, KEYS, a_panel
from tests.fakes.gateway import FakeGateway
from tests.fakes.memory_store import MemoryStore

PLACE = Place("slack", "T1", "C1")
PRICE = Price(1, 1)
CID = Asker("U3", "Cid", is_admin=True)
SHOWN = IncomingMessage("", ANA, PLACE, "k1")
ASKED = IncomingMessage("Which queue is the best one?", BEN, PLACE, "q1")


def two_panels() -> list[Panel]:
    return [a_panel(3), replace(a_panel(2), name="pair")]


@pytest.fixture
def app() -> AppContext:
    return an_app(panels=two_panels())


async def shown_to(app: AppContext, message: IncomingMessage) -> tuple[str, list[str]]:
    """Return what the command shows, and the actions of its buttons."""
    room = Room()
    await run_command(app, room, message, Invocation(commands_of(app)["settings"], {}))
    rows = [part for part in room.posts[-1].parts if isinstance(part, Buttons)]
    return words_of(room.posts[-1]), [one.action for row in rows for one in row.buttons]


async def opened(app: AppContext, action: str, message: IncomingMessage = SHOWN) -> Form:
    form = await buttons_of(app).forms[action].open(app, message, "open")
    assert len(form.fields) + bool(form.note) <= 5
    return form


async def send(app: AppContext, action: str, form: Form, by: Asker = ANA, **values: str) -> str:
    """Submit a form with some fields changed, as chats do; return the reply."""
    shown = {field.name: settings._initial(field) for field in form.fields}
    assert values.keys() <= shown.keys()
    room, message = Room(), replace(SHOWN, asker=by)
    await submit_form(app, room, message, action, form.value, {**shown, **values})
    return room.whispered[-1]


async def change(app: AppContext, action: str, by: Asker = ANA, **values: str) -> str:
    message = replace(SHOWN, asker=by)
    return await send(app, action, await opened(app, action, message), by, **values)


# --- The summary


async def test_an_admin_sees_what_holds_and_opens_three_forms(app: AppContext) -> None:
    text, buttons = await shown_to(app, SHOWN)

    assert buttons == [HERE, WHO, LIMITS]
    assert "Members, in every channel and in direct messages." in text
    assert "**Limits:** None." in text
    assert "The council is on. Questions go to panel house" in text


async def test_others_see_it_without_buttons_and_who_can_change_it(app: AppContext) -> None:
    text, buttons = await shown_to(app, replace(SHOWN, asker=BEN))

    assert buttons == []
    assert "Admins can change this." in text
    for action in LABELS:
        with pytest.raises(AccessDeniedError, match="Only admins"):
            await opened(app, action, replace(SHOWN, asker=BEN))


async def test_a_guest_is_never_an_admin(app: AppContext) -> None:
    guest = replace(ANA, is_guest=True)

    with pytest.raises(AccessDeniedError, match="Guests"):
        await shown_to(app, replace(SHOWN, asker=guest))
    with pytest.raises(AccessDeniedError, match="Only admins"):
        await opened(app, WHO, replace(SHOWN, asker=guest))


async def test_who_manages_a_channel_changes_what_holds_in_it_but_no_limits(
    app: AppContext,
) -> None:
    eve = Asker("U5", "Eve", roles=(), manages_channel=True)
    message = replace(SHOWN, asker=eve)

    _, buttons = await shown_to(app, message)

    assert buttons == [HERE]
    assert await change(app, HERE, eve, votes_first="on")
    for action in (WHO, LIMITS):
        with pytest.raises(AccessDeniedError):
            await opened(app, action, message)


async def test_there_are_none_in_the_terminal_and_outside_a_server(app: AppContext) -> None:
    outside = replace(SHOWN, place=Place("discord", "", "7"), is_direct=True)
    said = await replies_to(app, "settings", ANA, Place("terminal"))

    assert await shown_to(app, outside) == (settings.IN_A_SERVER, [])
    assert said == settings.NO_SETTINGS


async def test_direct_messages_have_the_forms_of_the_workspace(app: AppContext) -> None:
    direct = replace(SHOWN, place=Place("slack", "T1", "D1"), is_direct=True)

    text, buttons = await shown_to(app, direct)

    assert buttons == [WHO, LIMITS]
    assert "For one channel" in text
    with pytest.raises(CouncilError, match="no channel"):
        await opened(app, HERE, direct)


# --- What is chosen holds at the next question, in every process


async def test_an_admin_can_open_a_closed_channel_again(app: AppContext) -> None:
    await change(app, HERE, open="off")

    with pytest.raises(AccessDeniedError, match="off in this channel"):
        await open_round(app, ASKED)
    with pytest.raises(AccessDeniedError, match="off in this channel"):
        await shown_to(app, replace(SHOWN, asker=BEN))
    assert "The council is off." in (await shown_to(app, SHOWN))[0]
    await change(app, HERE, open="on")
    assert await open_round(app, ASKED)


async def test_another_process_sees_a_change_at_its_next_question(app: AppContext) -> None:
    other = an_app(store=MemoryStore(), panels=two_panels())
    other.key_values = app.key_values

    await change(app, LIMITS, rounds_per_hour="1")

    assert await open_round(other, ASKED)
    with pytest.raises(RoundLimitError, match="asked 1 round in the last hour"):
        await open_round(other, replace(ASKED, key="q2"))


@pytest.mark.parametrize("name", ["workspace_day_usd", "channel_day_usd"])
async def test_a_cap_binds(name: str) -> None:
    app = an_app(FakeGateway(prices=dict.fromkeys(KEYS, PRICE)), panels=two_panels())

    await change(app, LIMITS, ANA, **{name: "$0.0001"})

    with pytest.raises(BudgetError, match=r"left of this .*'s budget of \$0\.0001 a day"):
        await open_round(app, ASKED)
    assert await open_round(app, replace(ASKED, key="q2", place=Place("slack", "T2", "C9")))
    await change(app, LIMITS, ANA, **{name: ""})
    assert await open_round(app, ASKED)


async def test_a_channel_that_votes_first_holds_the_reveal_unless_asked_otherwise(
    app: AppContext,
) -> None:
    await change(app, HERE, votes_first="on")

    await open_round(app, ASKED)
    await open_round(app, replace(ASKED, key="q2"), AskOptions(votes_first=False))
    await open_round(app, replace(ASKED, key="q3", place=Place("slack", "T1", "C2")))

    assert [*await app.key_values.list_texts(HELD)] == ["q1"]


async def test_the_form_to_ask_in_begins_with_what_holds_in_the_channel(app: AppContext) -> None:
    at = ask_form.AskPlace("Everybody here", has_private_answers=True)
    await change(app, HERE, votes_first="on")

    here = await ask_form.ask_form(app, SHOWN, at)
    there = await ask_form.ask_form(app, replace(SHOWN, place=Place("slack", "T1", "C2")), at)

    audiences = [settings._initial(form.fields[3]) for form in (here, there)]
    assert audiences == [ask_form.VOTE_FIRST, ask_form.HERE]


@pytest.mark.parametrize(
    ("audience", "knew_place", "reveal"),
    [
        (ask_form.VOTE_FIRST, True, True),
        (ask_form.HERE, True, False),
        (ask_form.HERE, False, None),  # the form chose the channel itself
        (ask_form.ONLY_ME, True, None),
        ("", True, None),
    ],
)
def test_a_form_that_did_not_know_its_channel_leaves_the_reveal_to_it(
    audience: str, knew_place: bool, reveal: bool | None
) -> None:
    assert ask_form.chosen_reveal(audience, knew_place=knew_place) is reveal


async def test_the_panel_is_the_one_that_the_command_picks(app: AppContext) -> None:
    await change(app, HERE, panel="pair")

    round_ = await open_round(app, ASKED)

    assert round_
    assert round_.panel.name == "pair"
    assert "panel pair" in await change(app, HERE, votes_first="on")
    await change(app, HERE, panel=USUAL)
    assert app.panel_name(PLACE) == "house"


async def test_reading_threads_is_the_consent_of_the_channel(app: AppContext) -> None:
    panel = app.panels["house"]
    await change(app, HERE, reading=f"on:{receivers_digest(panel)}")

    assert await has_consent(app, PLACE, panel)
    await change(app, HERE, reading="off")
    assert not await has_consent(app, PLACE, panel)


async def test_nobody_consents_to_receivers_that_the_form_did_not_name(app: AppContext) -> None:
    await change(app, HERE, panel="pair")
    form = await opened(app, HERE)
    await app.pick_panel("house", PLACE)

    with pytest.raises(FieldError, match="has changed") as refused:
        await send(app, HERE, form, reading=f"on:{receivers_digest(app.panels['pair'])}")

    assert refused.value.field == "reading"
    assert not await has_consent(app, PLACE, app.panels["pair"])


async def test_added_admins_may_change_settings(app: AppContext) -> None:
    await change(app, WHO, admins="U2")

    assert "Saved" in await change(app, LIMITS, BEN, rounds_at_once="2")


# --- Values that make no sense


@pytest.mark.parametrize(
    ("action", "name", "value", "said"),
    [
        (LIMITS, "rounds_per_hour", "many", settings.NEEDS_COUNT),
        (LIMITS, "rounds_per_hour", "0", settings.NEEDS_COUNT),
        (LIMITS, "rounds_at_once", "1.5", settings.NEEDS_COUNT),
        (LIMITS, "rounds_per_day", "²", settings.NEEDS_COUNT),
        (LIMITS, "rounds_per_day", "9" * 12, settings.NEEDS_COUNT),
        (LIMITS, "workspace_day_usd", "-1", settings.NEEDS_USD),
        (LIMITS, "workspace_day_usd", "nan", settings.NEEDS_USD),
        (LIMITS, "channel_day_usd", "inf", settings.NEEDS_USD),
        (LIMITS, "channel_day_usd", "five", settings.NEEDS_USD),
        (LIMITS, "channel_day_usd", "1_000", settings.NEEDS_USD),
        (LIMITS, "channel_day_usd", "1e3", settings.NEEDS_USD),
        (LIMITS, "channel_day_usd", "٥", settings.NEEDS_USD),
        (LIMITS, "channel_day_usd", "0.0000001", settings.NEEDS_USD),
        (HERE, "vendors", "opnai", "No panel has a model from opnai. There are"),
        (HERE, "vendors", "openai", "Panel house also has models from"),
        (HERE, "panel", "gone", settings.CHANGED),
        (WHO, "guests", "perhaps", settings.CHANGED),
    ],
)
async def test_a_value_that_makes_no_sense_is_an_error_at_its_field(
    app: AppContext, action: str, name: str, value: str, said: str
) -> None:
    with pytest.raises(FieldError) as refused:
        await change(app, action, ANA, **{name: value})

    assert refused.value.field == name
    assert said in str(refused.value)
    assert await app.key_values.list_texts(SETTINGS) == {}


async def test_a_panel_of_other_providers_is_refused_where_few_are_allowed(
    app: AppContext,
) -> None:
    both = ", ".join(one.partition("/")[0] for one in (CLAUDE, GPT))
    await change(app, HERE, panel="pair", vendors=both)

    with pytest.raises(FieldError, match="Panel house also has models from") as refused:
        await change(app, HERE, panel="house")

    assert refused.value.field == "panel"
    with pytest.raises(AccessDeniedError, match="may be used in this channel"):
        app.panel("house", PLACE)


# --- Between opening and sending


async def test_only_what_somebody_changed_is_stored(app: AppContext) -> None:
    first, second = await opened(app, LIMITS), await opened(app, LIMITS)

    await send(app, LIMITS, first, ANA, rounds_per_hour="5")
    await send(app, LIMITS, second, CID, rounds_per_day="50")

    policy = app.access.at(PLACE)
    assert (policy.rounds_per_hour, policy.rounds_per_day) == (5, 50)
    assert "Nothing was changed" in await change(app, LIMITS)


@pytest.mark.parametrize(
    ("action", "name", "theirs", "mine", "words"),
    [
        (LIMITS, "rounds_per_hour", "5", "7", "5"),
        (LIMITS, "workspace_day_usd", "2.50", "3", "2.5"),
        (WHO, "guests", "on", "", "Yes"),
        (WHO, "channels", "open", "", "In channels that are turned on"),
        (WHO, "admins", "U7 U8", "U9", "2 people"),
        (HERE, "open", "off", "on", "Off"),
        (HERE, "panel", "pair", "house", "pair: "),
        (HERE, "vendors", "openai, anthropic, google", "openai, google", ""),
    ],
)
async def test_what_another_admin_changed_meanwhile_is_named_and_stays(
    app: AppContext, action: str, name: str, theirs: str, mine: str, words: str
) -> None:
    """A switch has two values, so both can only change it to the same one."""
    form = await opened(app, action)
    if name == "vendors":
        theirs = ", ".join({seat.model_id.partition("/")[0] for seat in app.panels["house"].seats})
        mine = theirs.partition(", ")[2]
    await change(app, action, CID, **{name: theirs})

    if not mine:
        assert "Nothing was changed" in await send(app, action, form)
        return
    with pytest.raises(FieldError) as refused:
        await send(app, action, form, ANA, **{name: mine})

    assert refused.value.field == name
    assert f"Cid changed this to “{words}" in str(refused.value)


async def test_what_a_command_changed_meanwhile_was_changed_by_somebody(app: AppContext) -> None:
    form = await opened(app, HERE)
    await app.pick_panel("pair", PLACE)

    with pytest.raises(FieldError, match="Somebody changed this to “pair"):
        await send(app, HERE, form, panel="house")


async def test_both_may_choose_the_same(app: AppContext) -> None:
    form = await opened(app, LIMITS)
    await change(app, LIMITS, CID, rounds_per_hour="5")

    assert "Saved" in await send(app, LIMITS, form, rounds_per_hour="5")


async def test_an_admin_who_is_none_any_more_is_refused(app: AppContext) -> None:
    form = await opened(app, LIMITS)

    with pytest.raises(AccessDeniedError, match="Only admins"):
        await send(app, LIMITS, form, replace(ANA, is_admin=False), rounds_per_hour="5")

    assert app.access.at(PLACE).rounds_per_hour is None


async def test_an_old_form_is_refused(app: AppContext) -> None:
    form = replace(await opened(app, LIMITS), value="gone")

    with pytest.raises(CouncilError, match="too old"):
        await send(app, LIMITS, form, rounds_per_hour="5")


@pytest.mark.parametrize(("action", "place"), [(WHO, PLACE), (LIMITS, Place("slack", "T2", "C1"))])
async def test_the_code_of_a_form_counts_for_its_action_and_place_only(
    app: AppContext, action: str, place: Place
) -> None:
    form = await opened(app, LIMITS)
    message, values = replace(SHOWN, place=place), {"rounds_per_day": "3"}

    with pytest.raises(CouncilError, match="too old"):
        await submit_form(app, Room(), message, action, form.value, values)


# --- What an admin chose, others do not undo


async def test_a_panel_that_an_admin_chose_is_for_admins_to_change(app: AppContext) -> None:
    await change(app, HERE, panel="pair")

    refused = await replies_to(app, "panel house", BEN, PLACE)
    listed = await replies_to(app, "panel", BEN, PLACE)

    assert "An admin chose this channel's panel" in refused
    assert "An admin chose this channel's panel" in listed
    assert app.panel_name(PLACE) == "pair"
    assert "now go to panel house" in await replies_to(app, "panel house", ANA, PLACE)
    await change(app, HERE, panel=USUAL)
    assert "now go to panel pair" in await replies_to(app, "panel pair", BEN, PLACE)


async def test_a_panel_of_the_file_is_for_admins_to_change_and_not_in_the_form(
    app: AppContext,
) -> None:
    app.access = Access(rules={"C1": ChannelRules(panel="pair")})

    form = await opened(app, HERE)
    refused = await replies_to(app, "panel house", BEN, PLACE)

    assert "panel" not in [field.name for field in form.fields]
    assert form.note == "`panel` is set in council.toml."
    assert "This channel's panel is set in council.toml." in refused
    assert app.panel_name(PLACE) == "pair"


async def test_who_only_manages_a_channel_cannot_lift_its_allowed_providers(
    app: AppContext,
) -> None:
    both = ", ".join(one.partition("/")[0] for one in (CLAUDE, GPT))
    await change(app, HERE, panel="pair", vendors=both)
    eve = Asker("U5", "Eve", roles=(), manages_channel=True)
    form = await opened(app, HERE)

    own = await opened(app, HERE, replace(SHOWN, asker=eve))
    with pytest.raises(CouncilError, match="has changed"):
        await send(app, HERE, form, eve, vendors="")

    assert "vendors" not in [field.name for field in own.fields]
    assert "Only models from Anthropic and OpenAI are allowed." in (await shown_to(app, SHOWN))[0]


async def test_what_holds_is_said_in_plain_words(app: AppContext) -> None:
    said = await change(app, LIMITS, rounds_per_hour="5", rounds_at_once="1")

    assert "Saved. Applies from the next question." in said
    assert "**Limits:** 5 questions per person per hour and 1 question at once." in said


# --- council.toml wins


async def test_what_the_file_sets_is_not_offered_and_the_form_says_so(app: AppContext) -> None:
    fixed = frozenset({"guests", "rounds_per_hour", "admins"})
    rules = {"C1": ChannelRules(vendors=("openai", "anthropic", "google", "deepseek", "xai"))}
    app.access = Access(admins=("U1",), rounds_per_hour=3, fixed=fixed, rules=rules)
    app.budget = replace(app.budget, caps=Caps(workspace_day=5_000_000))

    forms = {action: await opened(app, action) for action in LABELS}

    names = {action: [field.name for field in form.fields] for action, form in forms.items()}
    assert names[WHO] == ["channels", "direct_messages", "shared_channels"]
    assert names[LIMITS] == ["rounds_per_day", "rounds_at_once", "channel_day_usd"]
    assert "vendors" not in names[HERE]
    assert forms[WHO].note == "`admins` and `guests` are set in council.toml."
    assert forms[LIMITS].note == (
        "`rounds_per_hour` and `workspace_day_usd` are set in council.toml."
    )
    assert "are set in council.toml" in (await shown_to(app, SHOWN))[0]


async def test_a_field_that_the_file_has_fixed_meanwhile_is_refused(app: AppContext) -> None:
    form = await opened(app, WHO)
    app.access = replace(app.access, fixed=frozenset({"guests"}))

    with pytest.raises(CouncilError, match="has changed"):
        await send(app, WHO, form, guests="on")


async def test_a_form_without_fields_does_not_open(app: AppContext) -> None:
    counts = frozenset({"rounds_per_hour", "rounds_per_day", "rounds_at_once"})
    app.access = Access(fixed=counts)
    app.budget = replace(app.budget, caps=Caps(workspace_day=1, channel_day=1))

    with pytest.raises(CouncilError, match=r"All of this is set in council\.toml"):
        await opened(app, LIMITS)


# --- Who changed what, when; and leaving


async def test_who_changed_what_is_in_the_log_and_in_the_summary(app: AppContext) -> None:
    app.now = lambda: datetime(2026, 5, 3, 12, tzinfo=UTC)

    with capture_logs() as logs:
        await change(app, LIMITS, rounds_per_hour="5")

    assert "Ana changed this on 3 May." in (await shown_to(app, SHOWN))[0]
    (line,) = [one for one in logs if one["event"] == "settings_changed"]
    assert (line["by"], line["place"]) == ("U1", "slack/T1/")
    assert line["changed"] == {"rounds_per_hour": "5"}


async def test_a_workspace_that_leaves_leaves_no_settings(app: AppContext) -> None:
    await change(app, LIMITS, rounds_per_hour="5")
    await change(app, HERE, reading=f"on:{receivers_digest(app.panels['house'])}")
    away = replace(SHOWN, place=Place("slack", "T2", "C1"))
    form = await opened(app, LIMITS, away)
    await submit_form(app, Room(), away, LIMITS, form.value, {"rounds_per_day": "9"})

    await delete_workspace(app, "slack", "T1")

    assert [*await app.key_values.list_texts(SETTINGS)] == ["slack/T2/"]
    assert not await has_consent(app, PLACE, app.panels["house"])
    await app.reload_settings(PLACE)
    assert app.access.at(PLACE).rounds_per_hour is None
