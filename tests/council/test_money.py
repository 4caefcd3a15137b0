"""Sums of known and unknown costs."""

from council.money import Spending


def test_a_cost_is_unknown_if_that_of_any_call_is() -> None:
    known, unknown = Spending(1_500_000), Spending(unknown_calls=2)

    assert known + unknown + known == Spending(3_000_000, 2)
    assert (known.usd, Spending().usd, (known + unknown).usd) == (1.5, 0, None)
