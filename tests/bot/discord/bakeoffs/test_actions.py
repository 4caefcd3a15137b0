"""Buttons of bake-offs where that plug-in is off."""

import pytest

from bot.commands.button_registry import NEEDS_PLUGIN
from bot.discord.actions import handle_button
from council.errors import CouncilError
from tests.bot.app_fakes import FakeChat
from tests.bot.commands.test_button_registry import MESSAGE, an_app_of_the_core


@pytest.mark.parametrize(
    "action",
    [
        *("suite", "keep_suite", "bakeoff_cancel", "bakeoff_vote_page", "bakeoff_results"),
        *("bakeoff_questions_page", "schedule_subscribe", "schedule_run_now", "schedule_pause"),
    ],
)
async def test_an_old_button_says_which_plugin_it_needs(action: str) -> None:
    with pytest.raises(CouncilError) as refused:
        await handle_button(an_app_of_the_core(), FakeChat(), MESSAGE, action, "r1")

    assert str(refused.value) == NEEDS_PLUGIN.format(name="bakeoffs")
