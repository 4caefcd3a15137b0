"""App Home: ask, my newest rounds, my budget and the panels, for those who may use the bot."""

from dataclasses import replace

import pytest

from bot.chat import Button, Buttons, Heading, Line
from bot.commands.settings import LABELS
from bot.render.budgets import budget_left_line
from bot.slack.block_kit import action_id
from bot.slack.home import HOME_ASK, HOME_ROUND, MAX_PANELS, MAX_ROUNDS, NO_ROUNDS, Home, home_view
from council.budget_caps import Caps, CapUsage, Scope
from council.ports import RoundSummary
from council.rounds import Stage
from tests.bot.slack.story import Stage as Story
from tests.bot.slack.story import text_of
from tests.builders import ASKED_AT, a_panel
from tests.wire.slack import View
from tests.wire.slack.checks import find_home_faults

pytestmark = pytest.mark.asyncio(loop_scope="package")

LINE = RoundSummary("a1", "Which queue?", ASKED_AT, Stage.CLOSED, seconds=42.0)


def blocks_text(lines: list[RoundSummary]) -> str:
    return str(home_view(Home(lines, "", [], ""), "D1")["blocks"])


async def test_the_fullest_home_is_one_that_slack_takes() -> None:
    lines = [replace(LINE, id=f"a{at}", question="<!channel> " * 500) for at in range(MAX_ROUNDS)]
    panels = [replace(a_panel(), name="p" * 40) for _ in range(MAX_PANELS)]
    buttons = Buttons(tuple(Button(action, label, "open") for action, label in LABELS.items()))
    home = Home(lines, "**$1**", panels, "p" * 40, [Heading("Settings"), Line("x" * 900), buttons])

    assert find_home_faults(home_view(home, "D1")) == []


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ({}, "answered in 42 s"),
        ({"seconds": None}, "running"),
        ({"seconds": None, "paused": True}, "cancelled"),
        ({"failure": "Nobody answered."}, "failed"),
    ],
)
async def test_a_round_shows_its_state_and_opens_if_it_has_an_answer(
    change: dict[str, object], state: str
) -> None:
    shown = blocks_text([replace(LINE, **change)])  # type: ignore[arg-type]

    assert state in shown
    assert (HOME_ROUND in shown) is (not change)


async def test_the_budget_is_that_of_the_tightest_cap() -> None:
    caps = Caps(user_day=2_000_000, channel_day=1, month=900_000)
    used = {scope: CapUsage(spent=400_000) for scope in (Scope.USER_DAY, Scope.MONTH)}

    assert budget_left_line(caps, used) == "**$0.50** left for everybody this month."
    assert budget_left_line(Caps(), used) == "No budget limits your questions."


async def _home(story: Story, user: str, said: str) -> View:
    def has_it() -> bool:
        return user in story.slack.state.homes and said in str(story.slack.home(user).payload)

    await story.slack.until(has_it)
    return story.slack.home(user)


async def test_a_round_asked_from_home_is_listed_there_and_opens(stage: Story) -> None:
    dora = stage.add_user()
    await stage.slack.opens_app(dora)
    home = await _home(stage, dora, NO_ROUNDS)

    await stage.slack.click(home, action_id(HOME_ASK), dora)
    modal = await stage.wait_for_modal(dora, "Who may read it")
    await stage.slack.submit(modal, {"question": "Which queue, at home?", "audience": "me"}, dora)
    await stage.wait_for_answer(stage.slack.workspace.im_with(dora).id)
    await stage.slack.opens_app(dora)

    home = await _home(stage, dora, "Which queue, at home?")
    assert "(your default)" in str(home.payload)
    await stage.slack.click(home, f"{action_id(HOME_ROUND)}#1", dora)
    shown = text_of(await stage.wait_for_modal(dora, "Chairman: "))
    assert "Which queue, at home?" in shown


async def test_a_home_lists_no_rounds_of_private_channels_or_of_others(stage: Story) -> None:
    dora, channel = stage.add_user(), stage.add_channel(kind="private")
    stage.slack.workspace.channels[channel].members.add(dora)
    await stage.ask(channel, "A secret?", dora)
    await stage.ask(stage.add_channel(), "Of somebody else?", "U1")

    await stage.slack.opens_app(dora)

    await _home(stage, dora, NO_ROUNDS)


async def test_a_guest_sees_one_sentence_instead(stage: Story) -> None:
    guest = stage.add_user("gil", is_guest=True)

    await stage.slack.opens_app(guest)

    home = await _home(stage, guest, "Ask a member to ask for you")
    assert len(home.payload["blocks"]) == 1


async def test_an_older_home_does_not_replace_a_newer_one(stage: Story) -> None:
    dora = stage.add_user()
    await stage.slack.opens_app(dora)
    home = await _home(stage, dora, NO_ROUNDS)
    home.payload["hash"], stale = "newer", home.payload["hash"]

    event = await stage.slack.opens_app(dora)
    event.payload["event"]["view"] = home.payload | {"hash": stale}
    await stage.slack.deliver_again(event)

    await stage.slack.until(
        lambda: [c.outcome for c in stage.slack.called("views.publish")].count("hash_conflict")
    )
