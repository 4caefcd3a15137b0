"""Buttons of bake-offs of earlier versions of the program are understood."""

from bot.bakeoffs.commands.buttons import BUTTONS as SHOWN
from bot.commands.button_registry import OTHER_VERSION, why_unknown
from tests.bot.app_fakes import BUTTONS


def test_buttons_that_were_ever_shown_are_still_known() -> None:
    assert {
        "bakeoff_start",
        "bakeoff_leave",
        "bakeoff_cancel",
        "bakeoff_resume",
    } <= BUTTONS.handlers.keys()
    assert {"keep_suite", "leave_suite"} <= BUTTONS.handlers.keys()


def test_every_button_of_bakeoffs_says_which_plugin_it_needs_where_that_is_off() -> None:
    own = {*SHOWN.handlers, *SHOWN.views, *SHOWN.forms}

    assert {action for action in own if why_unknown(action) == OTHER_VERSION} == set()
