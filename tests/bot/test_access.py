"""Who may read which rounds: everybody here what was asked here, save what others asked alone."""

from dataclasses import replace

import pytest

from bot.access import check_readable, readable
from bot.chat import Asker
from council.errors import RoundNotFoundError
from council.places import NOWHERE, Place
from council.ports import EVERY, RoundLine
from council.rounds import Question, Round
from tests.builders import a_round

ME, OTHER = Asker("web:1", "you"), Asker("web:2", "you")
PAGE, TERMINAL = Place("web", channel="web:1"), Place("terminal")


def asked_in(place: Place, by: Asker = OTHER) -> Round:
    return a_round(question=Question("Why?", by.id, place=place))


def may_read(round_: Round, reader: Asker = ME, here: Place = PAGE) -> bool:
    try:
        check_readable(round_, reader, here)
    except RoundNotFoundError:
        return False
    return True


@pytest.mark.parametrize(
    ("place", "by", "allowed"),
    [
        pytest.param(Place("web"), OTHER, True, id="page"),
        pytest.param(TERMINAL, OTHER, True, id="terminal"),
        pytest.param(NOWHERE, OTHER, True, id="before-places"),
        pytest.param(Place("web", private=True), OTHER, False, id="private"),
        pytest.param(Place("web", private=True), ME, True, id="own-private"),
        pytest.param(Place("slack", "T1", "C1"), OTHER, False, id="chat"),
        pytest.param(Place("slack", "T1", "C1"), ME, False, id="own-in-a-chat"),
        pytest.param(Place("discord", private=True), ME, False, id="own-private-in-a-chat"),
    ],
)
def test_the_page_reads_what_was_asked_on_this_machine(
    place: Place, by: Asker, *, allowed: bool
) -> None:
    round_ = asked_in(place, by)

    assert may_read(round_) is allowed
    # Lists and single rounds go by one rule.
    assert readable(ME, PAGE).admits(RoundLine.of(round_)) is allowed


@pytest.mark.parametrize(
    "place", [PAGE, replace(PAGE, private=True), Place("slack", "T1", "C1"), NOWHERE]
)
def test_the_operator_in_the_terminal_reads_everything(place: Place) -> None:
    assert readable(ME, TERMINAL) == EVERY
    assert may_read(asked_in(place), here=TERMINAL)


def test_a_round_one_may_not_read_is_as_if_there_were_none() -> None:
    with pytest.raises(RoundNotFoundError, match=r"^There is no round 'r1'\.$"):
        check_readable(asked_in(replace(PAGE, private=True)), ME, PAGE)


def test_what_is_looked_for_goes_into_the_wish() -> None:
    assert readable(ME, PAGE, "queue").containing == "queue"
    assert readable(ME, TERMINAL, "queue").containing == "queue"
