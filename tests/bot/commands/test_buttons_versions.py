"""Buttons of earlier versions of the program are understood."""

from tests.bot.app_fakes import BUTTONS


def test_buttons_that_were_ever_shown_are_still_known() -> None:
    assert {"again", "cancel", "resume", "export"} <= BUTTONS.handlers.keys()
