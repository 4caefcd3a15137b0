"""Settings in Slack: forms as modals, errors at their fields, and the App Home."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from bot.commands.settings import HERE, LIMITS, NEEDS_COUNT, WHO
from bot.slack.block_kit import action_id
from tests.bot.slack.story import Stage, run_stage, text_of
from tests.wire.slack import View
from tests.wire.slack.fields import elements_in

pytestmark = pytest.mark.asyncio(loop_scope="package")

RULES = """
[access]
shared_channels = false
"""


@pytest_asyncio.fixture(loop_scope="package", scope="module")
async def ruled(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with run_stage(tmp_path_factory.mktemp("settings"), RULES) as running:
        yield running


async def opened(stage: Stage, user: str, channel: str, action: str, title: str) -> View:
    shown = await stage.reply_to(user, channel, "settings")
    await stage.slack.click(shown, action_id(action), user)
    return await stage.wait_for_modal(user, title)


def field_types(view: View) -> dict[str, str]:
    return {one["action_id"]: one["type"] for _, one in elements_in(view.payload["blocks"])}


async def test_who_may_ask_is_a_form_and_holds_at_the_next_question(ruled: Stage) -> None:
    dora = ruled.add_user("dora", is_admin=True)
    guest = ruled.add_user("gil", is_guest=True)
    erin = ruled.add_user("erin")
    channel = ruled.add_channel(dora, guest, erin)
    assert "Guests can't" in text_of(await ruled.reply_to(guest, channel, "Which queue is it?"))

    view = await opened(ruled, dora, channel, WHO, "Who may ask")
    types, text = field_types(view), text_of(view)
    await ruled.slack.submit(view, {"guests": "on", "admins": [erin]}, dora)
    await ruled.wait_for_ephemeral(dora, channel, "Members and guests, in every channel")

    assert list(types) == ["channels", "guests", "direct_messages", "admins"]
    assert types["admins"] == "multi_users_select"
    assert "`shared_channels` is set in council.toml." in text
    await ruled.ask(channel, user=guest)
    again = await opened(ruled, erin, channel, WHO, "Who may ask")
    assert f"'initial_users': ['{erin}']" in str(again.payload)
    await ruled.slack.submit(again, {"guests": "off", "admins": []}, erin)
    await ruled.wait_for_ephemeral(erin, channel, "Members, in every channel")


async def test_what_is_wrong_stands_at_its_field_and_what_others_changed_too(
    ruled: Stage,
) -> None:
    dora, fred = (ruled.add_user(name, is_admin=True) for name in ("dora", "fred"))
    channel = ruled.add_channel(dora, fred)
    mine = await opened(ruled, dora, channel, LIMITS, "Limits")
    theirs = await opened(ruled, fred, channel, LIMITS, "Limits")

    await ruled.slack.submit(mine, {"rounds_per_hour": "a few"}, dora)
    wrong = dict(mine.errors)
    await ruled.slack.submit(theirs, {"rounds_per_hour": "40"}, fred)
    await ruled.wait_for_ephemeral(fred, channel, "40 questions per person per hour")
    await ruled.slack.submit(mine, {"rounds_per_hour": "30"}, dora)

    assert wrong == {"rounds_per_hour": NEEDS_COUNT}
    assert "fred changed this to “40” meanwhile" in mine.errors["rounds_per_hour"]
    assert ruled.slack.views(dora) == [mine]


async def test_who_is_no_admin_any_more_is_refused_when_the_form_is_sent(ruled: Stage) -> None:
    dora = ruled.add_user("dora", is_admin=True)
    channel = ruled.add_channel(dora)
    view = await opened(ruled, dora, channel, LIMITS, "Limits")
    ruled.slack.workspace.users[dora].is_admin = False

    await ruled.slack.submit(view, {"rounds_per_day": "3"}, dora)

    assert "Only admins can change this" in str(view.errors)
    assert "Admins can change this" in text_of(await ruled.reply_to(dora, channel, "settings"))


async def test_a_channel_has_a_panel_and_can_be_turned_off_and_on(ruled: Stage) -> None:
    dora = ruled.add_user("dora", is_admin=True)
    channel = ruled.add_channel(dora)
    view = await opened(ruled, dora, channel, HERE, "This channel")
    fields = ["open", "panel", "vendors", "reading", "votes_first"]
    assert list(field_types(view)) == fields

    await ruled.slack.submit(view, {"open": "off", "panel": "served"}, dora)
    await ruled.wait_for_ephemeral(dora, channel, "The council is off.")
    refused = text_of(await ruled.reply_to(dora, channel, "Which queue is the best?"))
    view = await opened(ruled, dora, channel, HERE, "This channel")
    await ruled.slack.submit(view, {"open": "on"}, dora)
    shown = await ruled.wait_for_ephemeral(dora, channel, "The council is on.")

    assert "The council is off in this channel" in refused
    assert "panel served" in text_of(shown)


async def home_of(stage: Stage, user: str, said: str) -> View:
    def has_it() -> bool:
        return user in stage.slack.state.homes and said in str(stage.slack.home(user).payload)

    await stage.slack.until(has_it)
    return stage.slack.home(user)


async def test_the_home_has_the_forms_for_admins_and_shows_the_change(ruled: Stage) -> None:
    dora, erin = ruled.add_user("dora", is_admin=True), ruled.add_user("erin")
    await ruled.slack.opens_app(dora)
    await ruled.slack.opens_app(erin)
    home, plain = await home_of(ruled, dora, "Settings"), await home_of(ruled, erin, "Settings")

    await ruled.slack.click(home, action_id(LIMITS), dora)
    view = await ruled.wait_for_modal(dora, "Limits")
    await ruled.slack.submit(view, {"rounds_at_once": "7"}, dora)
    changed = await home_of(ruled, dora, "7 questions at once")

    assert action_id(LIMITS) in str(changed.payload)
    assert action_id(HERE) not in str(home.payload)
    assert action_id(WHO) not in str(plain.payload)
    assert "Admins can change this." in str(plain.payload)


async def test_an_admin_who_turned_off_direct_messages_can_turn_them_on_at_home(
    ruled: Stage,
) -> None:
    dora = ruled.add_user("dora", is_admin=True)
    channel = ruled.add_channel(dora)
    view = await opened(ruled, dora, channel, WHO, "Who may ask")
    await ruled.slack.submit(view, {"direct_messages": "off"}, dora)
    await ruled.wait_for_ephemeral(dora, channel, "Members, in every channel.")
    await ruled.slack.opens_app(dora)
    home = await home_of(ruled, dora, "off in direct messages")

    await ruled.slack.click(home, action_id(WHO), dora)
    view = await ruled.wait_for_modal(dora, "Who may ask")
    await ruled.slack.submit(view, {"direct_messages": "on"}, dora)

    await home_of(ruled, dora, "Your newest rounds")
