"""Graders of plug-ins: checked when a suite is read, graded 0 to 1, and named where missing."""

from dataclasses import replace

import pytest

from council.bakeoffs.bias.number_verification import verify_record
from council.bakeoffs.graders import (
    check_graders,
    check_reference,
    find_grader,
    grade,
    missing_grader,
)
from council.bakeoffs.models import Bakeoff, Grading, Reference, Suite, SuiteQuestion
from council.bakeoffs.record_arrays import pack_record
from council.bakeoffs.records import build_record
from council.errors import SuiteError
from council.places import NOWHERE
from council.plugin import Plugin
from council.registry import NO_PLUGINS, Registry, build_registry
from council.rounds import Closing, Round
from tests.builders import ASKED_AT, a_panel, a_round, with_answers, with_ballots
from tests.registries import a_registry, address_of


class Syllables:
    """Counts vowels in place of syllables; half right if one off."""

    def check(self, reference: str) -> None:
        if not reference.isdigit():
            raise SuiteError(f"{reference!r} is no number of syllables. Write it as 17.")

    def grade(self, answer: str, reference: str) -> float | None:
        off = abs(sum(letter in "aeiou" for letter in answer) - int(reference))
        return {"?": None, "!": 1.5}.get(answer, max(0, 1 - off / 2))


REGISTRY = a_registry(syllables=Syllables())
TWO = Reference("syllables", "2")
SUITE = Suite("haiku", (SuiteQuestion("Write two.", "", TWO),))
DISABLED = build_registry([], disabled=[Plugin(name="haiku", graders={"syllables": "a:B"})])


def a_graded_round(registry: Registry = REGISTRY) -> tuple[Round, Bakeoff]:
    panel = a_panel(3)
    texts = dict(zip([seat.key for seat in panel.members], ("a e", "a", "?"), strict=True))
    asked = replace(a_round(panel, registry=registry), id="bo:a.1", bakeoff="bo:a")
    round_ = with_ballots(with_answers(asked, texts)).with_(Closing(1.0))
    return round_, Bakeoff("bo:a", SUITE, panel, NOWHERE, "u", ASKED_AT)


@pytest.mark.parametrize(
    ("answer", "right"), [("a e", 1), ("a", 0.5), ("a e i o", 0), ("?", None), ("!", None)]
)
def test_an_answer_is_right_in_part_as_its_plugin_says(answer: str, right: float | None) -> None:
    assert grade(TWO, answer, REGISTRY) == right


def test_a_reference_is_checked_by_its_grader() -> None:
    check_reference(TWO, REGISTRY)

    with pytest.raises(SuiteError, match="no number of syllables"):
        check_reference(Reference("syllables", "two"), REGISTRY)
    with pytest.raises(SuiteError, match="The answer is empty"):
        check_reference(Reference("syllables", " "), REGISTRY)


def test_a_grader_that_fails_gives_no_grade() -> None:
    assert grade(Reference("syllables", "two"), "a e", REGISTRY) is None


def test_a_missing_grader_gives_no_grade_and_is_named() -> None:
    assert grade(TWO, "a e") is None
    assert missing_grader(TWO, REGISTRY) == ""
    assert missing_grader(None, NO_PLUGINS) == ""
    assert missing_grader(Reference(Grading.EXACT, "a"), NO_PLUGINS) == ""
    assert "The grader 'syllables' is missing here." in missing_grader(TWO, NO_PLUGINS)
    assert "the plug-in haiku, which is disabled" in missing_grader(TWO, DISABLED)
    with pytest.raises(SuiteError, match="'syllables' is missing"):
        check_reference(TWO, NO_PLUGINS)


def test_a_broken_grader_is_missing_and_says_why() -> None:
    broken = build_registry([Plugin(name="haiku", graders={"syllables": address_of("a text")})])

    with pytest.raises(
        SuiteError, match="The plug-in haiku can't be used: .* is a str, not a Grad"
    ):
        find_grader("syllables", broken)


def test_a_suite_with_a_missing_grader_is_not_run() -> None:
    check_graders(SUITE, REGISTRY)
    check_graders(Suite("plain", (SuiteQuestion("Why?"),)), NO_PLUGINS)

    with pytest.raises(SuiteError, match="Suite haiku can't be run. The grader 'syllables' is"):
        check_graders(SUITE, NO_PLUGINS)


def test_records_have_the_grades_of_plug_ins() -> None:
    record = build_record(*a_graded_round())

    assert [one.correct for one in record.authored] == [True, False, None]
    assert record.whole.council_correct is False


def test_a_round_counted_without_the_grader_has_no_grades() -> None:
    record = build_record(*a_graded_round(NO_PLUGINS))

    assert [one.correct for one in record.authored] == [None, None, None]
    assert record.whole.council_correct is None


def test_stored_grades_verify_also_without_their_grader() -> None:
    round_, bakeoff = a_graded_round()
    stored = pack_record(build_record(round_, bakeoff))

    assert verify_record(stored, round_, bakeoff) == ()
    assert verify_record(stored, replace(round_, registry=NO_PLUGINS), bakeoff) == ()
    wrong = Suite("haiku", (SuiteQuestion("Write two.", "", Reference("syllables", "1")),))
    assert verify_record(stored, round_, replace(bakeoff, suite=wrong)) != ()


def test_a_plugin_compares_the_right_answer_closest_in_length() -> None:
    several = Reference("syllables", "2", others=("00000003",))

    assert grade(several, "a e", REGISTRY) == 1
    assert grade(several, "a e i ....", REGISTRY) == 1
