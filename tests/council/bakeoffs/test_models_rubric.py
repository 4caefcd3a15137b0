"""Questions of suites that are graded by a rubric."""

from dataclasses import replace

import pytest

from council.bakeoffs.models import Grading, Reference, Suite, SuiteQuestion
from council.errors import SuiteError
from tests.builders import a_panel
from tests.council.bakeoffs.test_records_rubric import a_rubric_bakeoff
from tests.council.test_rubric_grader import RUBRIC


def test_a_panel_without_outside_judges_is_refused_by_name() -> None:
    suite = a_rubric_bakeoff(a_panel()).suite
    two = replace(suite, questions=suite.questions * 2)

    with pytest.raises(SuiteError, match=r"Suite s has 1 question that .* panel 'house' has none"):
        suite.check_graders(a_panel())
    with pytest.raises(SuiteError, match="2 questions that"):
        two.check_graders(a_panel())
    suite.check_graders(a_panel(outside=1))
    chairs = replace(a_panel(outside=1), chairmen=a_panel(outside=1).outside_judges)
    with pytest.raises(SuiteError, match="also writes the council's answer, so nobody could"):
        suite.check_graders(chairs)
    suite.check_graders(replace(a_panel(outside=2), chairmen=a_panel(outside=2).outside_judges))
    Suite("plain", (SuiteQuestion("Why?"),)).check_graders(a_panel())


def test_judges_never_read_a_rubric_as_the_right_answer() -> None:
    number = SuiteQuestion("6 x 7?", reference=Reference(Grading.NUMBER, "42", 0.5))
    rubric = a_rubric_bakeoff(a_panel()).suite.questions[0]

    assert number.known_answer == "42 (give or take 0.5)"
    assert (rubric.known_answer, rubric.rubric) == ("", RUBRIC)
    assert (SuiteQuestion("Why?").known_answer, number.rubric) == ("", "")
