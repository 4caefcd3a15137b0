"""Amounts are whole micro-dollars and are formatted as money."""

import pytest

from council.money import Price, cap_micro_usd, cost_micro_usd, format_rounded_usd, format_usd


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
