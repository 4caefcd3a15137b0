"""Which panels are valid."""

from dataclasses import replace

import pytest

from council.errors import PanelError
from council.panel import Panel, Terms
from tests.builders import CLAUDE, DEEPSEEK, GEMINI, GPT, RUBRIC, a_member, a_panel


@pytest.mark.parametrize("members", [2, 3, 10])
def test_a_panel_has_two_to_ten_members(members: int) -> None:
    assert len(a_panel(members).members) == members


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        pytest.param([CLAUDE], "has 1 member(s): a council needs at least two", id="one"),
        pytest.param([], "has 0 member(s): a council needs at least two", id="none"),
        pytest.param([str(i) for i in range(11)], "has 11 members: at most 10", id="eleven"),
        pytest.param([CLAUDE, GPT, CLAUDE], f"seats {CLAUDE!r} twice", id="the-same-twice"),
    ],
)
def test_an_invalid_panel_is_refused_with_the_reason(keys: list[str], sentence: str) -> None:
    with pytest.raises(PanelError) as refused:
        Panel("house", tuple(map(a_member, keys)), RUBRIC, terms=Terms(quorum=1))

    assert f"Panel 'house' {sentence}" in str(refused.value)


def test_a_member_cannot_be_an_outside_judge_too() -> None:
    with pytest.raises(PanelError, match=f"seats {GPT!r} twice"):
        replace(a_panel(3), outside_judges=(a_member(GPT),))


@pytest.mark.parametrize("quorum", [0, -1, 4])
def test_an_impossible_quorum_is_refused(quorum: int) -> None:
    with pytest.raises(PanelError, match="choose 1 to 3"):
        a_panel(3, terms=Terms(quorum=quorum))


def test_members_judge_before_outsiders() -> None:
    assert [seat.key for seat in a_panel(2, outside=1).judges] == [CLAUDE, GPT, GEMINI]


def test_without_chairmen_members_chair_in_order() -> None:
    assert a_panel(2, outside=1).chair_order == (a_member(CLAUDE), a_member(GPT))


@pytest.mark.parametrize("key", [CLAUDE, GEMINI, DEEPSEEK])
def test_every_seat_is_found_by_its_key(key: str) -> None:
    panel = a_panel(2, outside=1, chairmen=[DEEPSEEK])

    assert panel.seat(key).key == key
