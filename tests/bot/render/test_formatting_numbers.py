"""Numbers, durations, money and lists as text."""

import pytest

from bot.render.formatting import (
    count_noun,
    duration,
    join_words,
    money,
    number_word,
    points,
    sum_or_none,
)


@pytest.mark.parametrize(
    ("usd", "reads"),
    [
        pytest.param(None, "cost unknown", id="unknown"),
        pytest.param(0.0, "$0", id="free"),
        pytest.param(0.043, "$0.043", id="cents"),
        pytest.param(0.01, "$0.010", id="one-cent"),
        pytest.param(0.00042, "$0.00042", id="less-than-a-cent"),
        pytest.param(0.0000042, "$0.0000042", id="no-powers-of-ten"),
        pytest.param(1.2, "$1.20", id="dollars"),
        pytest.param(12.345, "$12.35", id="many-dollars"),
    ],
)
def test_money_has_significant_digits(usd: float | None, reads: str) -> None:
    assert money(usd) == reads


@pytest.mark.parametrize(
    ("seconds", "reads"),
    [
        pytest.param(0.04, "0.0 s", id="at-once"),
        pytest.param(4.12, "4.1 s", id="some"),
        pytest.param(21.4, "21 s", id="tens"),
        pytest.param(9.97, "10 s", id="rounded-before-the-unit"),
        pytest.param(59.7, "1 min", id="rounded-to-a-minute"),
        pytest.param(125, "2 min 5 s", id="minutes"),
    ],
)
def test_a_duration_has_a_fitting_unit(seconds: float, reads: str) -> None:
    assert duration(seconds) == reads


def test_numbers_and_lists_read_as_in_a_sentence() -> None:
    assert (points(3.5, 6), points(5.0, 6), points(0.0, 0)) == ("3.5 of 6", "5 of 6", "0 of 0")
    assert [count_noun(n, "ballot") for n in (0, 1, 2)] == ["0 ballots", "1 ballot", "2 ballots"]
    assert [number_word(number) for number in (0, 3, 10, 11)] == ["no", "three", "ten", "11"]
    assert [join_words(x.split()) for x in ("A", "A B", "A B C")] == ["A", "A and B", "A, B and C"]


def test_one_unknown_amount_makes_the_sum_unknown() -> None:
    assert sum_or_none([0.01, None, 0.02]) is None
    assert sum_or_none([0.25, 0.5]) == 0.75
    assert sum_or_none([]) == 0
