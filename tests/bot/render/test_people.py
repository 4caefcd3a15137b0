"""Names of people come back wherever people read a round."""

from dataclasses import replace

from bot.render.people import named_question, named_round
from bot.render.round_report.thread import whole_round
from council.people import Person, ThreadReading
from council.ports import RoundSummary
from council.rounds import Round
from tests.storage.builders import a_closed_round

READING = ThreadReading(1, people=(Person(1, "U1", "ada"), Person(3, "U3", "Person 1")))


def a_read_round() -> Round:
    round_ = a_closed_round()
    assert round_.synthesis
    asked = replace(round_.question, text="Do Person 1 and Person 3 agree?", reading=READING)
    written = replace(round_.synthesis, text="Person 1 does, Person 2 does not.")
    return replace(round_, question=asked, synthesis=written)


def test_a_round_is_read_with_names() -> None:
    named = named_round(a_read_round())

    assert named.question.text == "Do ada and “Person 1” (a person) agree?"
    assert named.question.reading == READING
    assert named.synthesis
    assert named.synthesis.text == "ada does, Person 2 does not."
    assert "ada does" in str(whole_round(named))


def test_a_round_without_people_is_itself() -> None:
    round_ = a_closed_round()

    assert named_round(round_) is round_


def test_a_list_shows_names() -> None:
    assert named_question(RoundSummary.of(a_read_round())) == (
        "Do ada and “Person 1” (a person) agree?"
    )
