"""Which panels are valid."""

from dataclasses import replace

import pytest

from council.errors import PanelError
from council.money import Price, cap_micro_usd, cost_micro_usd, format_rounded_usd, format_usd
from council.panel import Panel, Terms
from council.places import Place
from tests.builders import CLAUDE, DEEPSEEK, GEMINI, GPT, RUBRIC, a_member, a_panel


@pytest.mark.parametrize("members", [2, 3, 10])
def test_a_panel_has_two_to_ten_members(members: int) -> None:
    assert len(a_panel(members).members) == members


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        pytest.param([CLAUDE], "has 1 member(s). A council needs at least two", id="one"),
        pytest.param([], "has 0 member(s). A council needs at least two", id="none"),
        pytest.param([str(i) for i in range(11)], "has 11 members. At most", id="eleven"),
        pytest.param([CLAUDE, GPT, CLAUDE], f"includes {CLAUDE!r} twice", id="the-same-twice"),
    ],
)
def test_an_invalid_panel_is_refused_with_the_reason(keys: list[str], sentence: str) -> None:
    with pytest.raises(PanelError) as refused:
        Panel("house", tuple(map(a_member, keys)), RUBRIC, terms=Terms(quorum=1))

    assert f"Panel 'house' {sentence}" in str(refused.value)


def test_a_member_cannot_be_an_outside_judge_too() -> None:
    with pytest.raises(PanelError, match=f"includes {GPT!r} twice"):
        replace(a_panel(3), outside_judges=(a_member(GPT),))


@pytest.mark.parametrize("stand_in", [GPT, GEMINI])
def test_a_fallback_has_no_other_seat(stand_in: str) -> None:
    first, second, *_ = a_panel(3).members
    members = tuple(replace(seat, fallback=a_member(stand_in)) for seat in (first, second))

    with pytest.raises(PanelError, match=f"needs {stand_in!r} for two seats"):
        replace(a_panel(2), members=members)


@pytest.mark.parametrize("quorum", [0, -1, 4])
def test_an_impossible_quorum_is_refused(quorum: int) -> None:
    with pytest.raises(PanelError, match="Choose 1 to"):
        a_panel(3, terms=Terms(quorum=quorum))


def test_members_judge_before_outsiders() -> None:
    assert [seat.key for seat in a_panel(2, outside=1).judges] == [CLAUDE, GPT, GEMINI]


def test_without_chairmen_members_chair_in_order() -> None:
    assert a_panel(2, outside=1).chair_order == (a_member(CLAUDE), a_member(GPT))


@pytest.mark.parametrize("key", [CLAUDE, GEMINI, DEEPSEEK])
def test_every_seat_is_found_by_its_key(key: str) -> None:
    panel = a_panel(2, outside=1, chairmen=[DEEPSEEK])

    assert panel.seat(key).key == key


HERE = Place("slack", "T1", "C1", "1.2")


@pytest.mark.parametrize(
    ("other", "shared"),
    [
        pytest.param(replace(HERE, thread=None, private=True), True, id="another-thread"),
        pytest.param(replace(HERE, channel="C2"), False, id="another-channel"),
        pytest.param(replace(HERE, workspace="T2"), False, id="another-workspace"),
        pytest.param(replace(HERE, chat="discord"), False, id="another-chat"),
    ],
)
def test_a_thread_belongs_to_its_channel(other: Place, shared: bool) -> None:
    assert HERE.shares_channel(other) is shared


@pytest.mark.parametrize(
    ("usd", "micro"),
    [
        pytest.param(0.0, 0, id="nothing"),
        pytest.param(0.50, 500_000, id="cents"),
        pytest.param(0.1 + 0.2, 300_000, id="noise-of-floats"),
        pytest.param(0.000_000_2, 1, id="part-of-one"),
        pytest.param(1.000_001_5, 1_000_002, id="and-a-half"),
    ],
)
def test_a_cost_is_rounded_up(usd: float, micro: int) -> None:
    assert cost_micro_usd(usd) == micro


@pytest.mark.parametrize(("usd", "micro"), [(0.3, 300_000), (0.000_001_9, 1), (0.29, 290_000)])
def test_a_cap_is_rounded_down(usd: float, micro: int) -> None:
    assert cap_micro_usd(usd) == micro


@pytest.mark.parametrize(
    ("micro", "text"),
    [
        (0, "$0.00"),
        (500_000, "$0.50"),
        (43_000, "$0.043"),
        (125, "$0.000125"),
        (1_234_500_000, "$1,234.50"),
    ],
)
def test_amounts_are_formatted_exactly(micro: int, text: str) -> None:
    assert format_usd(micro) == text


@pytest.mark.parametrize(
    ("micro", "text"),
    [(0, "$0.00"), (40_000, "$0.04"), (40_001, "$0.05"), (3_412, "$0.0035"), (7, "$0.000007")],
)
def test_rounded_amounts_are_never_too_low(micro: int, text: str) -> None:
    assert format_rounded_usd(micro) == text


def test_a_price_covers_input_and_output_tokens() -> None:
    price = Price(2.5e-6, 10e-6)

    assert price.cost_micro_usd(1_000, 100) == 3_500
    assert not price.is_free
    assert Price(0, 0, 220).is_free
