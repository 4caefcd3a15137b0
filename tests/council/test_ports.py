"""Which rounds are listed, as every store agrees on it."""

import pytest

from council.ports import EVERY, RoundLine, Wanted
from council.rounds import Stage
from tests.builders import a_round

LINE = RoundLine.of(a_round())


def test_a_rounds_line_says_what_it_is_about() -> None:
    assert (LINE.id, LINE.question) == (a_round().id, a_round().question.text)
    assert LINE.stage is Stage.OPEN


@pytest.mark.parametrize(
    ("wanted", "admitted"),
    [
        pytest.param(EVERY, True, id="every"),
        pytest.param(Wanted(containing=LINE.question[:5].upper()), True, id="capitals-or-not"),
        pytest.param(Wanted(containing="no such words"), False, id="other-words"),
        pytest.param(Wanted(chats=("elsewhere",)), False, id="another-chat"),
        pytest.param(Wanted(unfinished=True), True, id="unfinished"),
        pytest.param(Wanted(undelivered=True), True, id="undelivered"),
        pytest.param(Wanted(succeeded=True), False, id="not-closed"),
        pytest.param(Wanted(here=LINE.place, only_here=True), True, id="here"),
        pytest.param(Wanted(only_here=True), False, id="nowhere"),
        pytest.param(Wanted(workspace="T2"), False, id="another-workspace"),
        pytest.param(Wanted(panel="other"), False, id="another-panel"),
        pytest.param(Wanted(asked_by="somebody"), False, id="another-asker"),
    ],
)
def test_a_line_is_admitted_by_what_is_wanted(wanted: Wanted, admitted: bool) -> None:
    assert wanted.admits(LINE) is admitted
