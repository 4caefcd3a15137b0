"""The filter of rounds, on which every store agrees."""

import pytest

from council.ports import ALL_ROUNDS, RoundQuery, RoundSummary
from council.rounds import Stage
from tests.builders import a_round
from tests.fakes.memory_store import admits

LINE = RoundSummary.of(a_round())


def test_a_summary_has_the_facts_of_its_round() -> None:
    assert (LINE.id, LINE.question) == (a_round().id, a_round().question.text)
    assert LINE.stage is Stage.OPEN


@pytest.mark.parametrize(
    ("wanted", "admitted"),
    [
        pytest.param(ALL_ROUNDS, True, id="every"),
        pytest.param(RoundQuery(containing=LINE.question[:5].upper()), True, id="capitals-or-not"),
        pytest.param(RoundQuery(containing="no such words"), False, id="other-words"),
        pytest.param(RoundQuery(chats=("elsewhere",)), False, id="another-chat"),
        pytest.param(RoundQuery(unfinished=True), True, id="unfinished"),
        pytest.param(RoundQuery(undelivered=True), True, id="undelivered"),
        pytest.param(RoundQuery(succeeded=True), False, id="not-closed"),
        pytest.param(RoundQuery(here=LINE.place, only_here=True), True, id="here"),
        pytest.param(RoundQuery(only_here=True), False, id="nowhere"),
        pytest.param(RoundQuery(workspace="T2"), False, id="another-workspace"),
        pytest.param(RoundQuery(panel="other"), False, id="another-panel"),
        pytest.param(RoundQuery(asked_by="somebody"), False, id="another-asker"),
    ],
)
def test_a_query_filters_summaries(wanted: RoundQuery, admitted: bool) -> None:
    assert admits(wanted, LINE) is admitted
