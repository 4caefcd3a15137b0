"""Fields of forms: which options a select has room for, and whose an error is."""

import pytest

from bot.commands.forms import (
    FieldError,
    SelectField,
    errors_at,
    fitting_options,
    named_options,
    select_hint,
)
from council.errors import CouncilError, PanelError, SuiteError

NAMES = [f"panel{number}" for number in range(26)]


def test_a_select_lists_what_fits_and_says_how_many_there_are() -> None:
    field = SelectField("panel", "Panel", named_options(NAMES), hint="Who answers.")

    shown = fitting_options(field, 25, 100)

    assert [one.value for one in shown] == NAMES[:25]
    assert select_hint(field, len(shown)).startswith("Who answers. 25 of 26 are listed.")
    assert select_hint(field, 26) == "Who answers."


def test_what_is_chosen_at_the_start_is_always_listed() -> None:
    field = SelectField("panel", "Panel", named_options(NAMES), initial=NAMES[25])

    shown = [one.value for one in fitting_options(field, 25, 100)]

    assert shown == [NAMES[25], *NAMES[:24]]


def test_a_value_that_is_too_long_for_the_chat_is_left_out() -> None:
    field = SelectField("panel", "Panel", named_options(["x" * 101, "short"]))

    assert [one.value for one in fitting_options(field, 25, 100)] == ["short"]


def test_the_innermost_field_keeps_its_error() -> None:
    with pytest.raises(FieldError) as found, errors_at("name"), errors_at("suite", SuiteError):
        raise SuiteError("No such suite.")
    with pytest.raises(PanelError), errors_at("suite", SuiteError):
        raise PanelError("No such panel.")

    assert (found.value.field, str(found.value)) == ("suite", "No such suite.")
    assert isinstance(found.value, CouncilError)
