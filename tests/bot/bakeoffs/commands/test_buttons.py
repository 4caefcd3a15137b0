"""Buttons of bake-offs of earlier versions of the program are understood."""

from tests.bot.app_fakes import BUTTONS


def test_buttons_that_were_ever_shown_are_still_known() -> None:
    assert {
        "bakeoff_start",
        "bakeoff_leave",
        "bakeoff_cancel",
        "bakeoff_resume",
    } <= BUTTONS.handlers.keys()
    assert {"keep_suite", "leave_suite"} <= BUTTONS.handlers.keys()
