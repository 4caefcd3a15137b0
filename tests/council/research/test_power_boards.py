"""How many rounds simulated leaderboards need to tell members apart."""

from council.research.power import GAPS, follow_boards
from council.research.simulated_judges import FAIR, Biases, SimulatedPanel, uniform_panel


def test_a_wider_gap_is_found_sooner() -> None:
    lines = [*follow_boards(uniform_panel(5, FAIR), 100, "seed")]

    assert [line.gap for line in lines] == [*GAPS]
    told = [line.told for line in lines]
    assert told[1:] == sorted(told[1:])
    assert lines[-1].told > 0.95
    half, whole = lines[-2].rounds, lines[-1].rounds
    assert half
    assert whole
    assert whole < half


def test_a_gap_of_zero_is_hardly_ever_reported() -> None:
    equal = next(follow_boards(uniform_panel(5, FAIR), 100, "seed"))

    assert equal.told + equal.wrong < 0.08
    assert equal.rounds is None


def test_a_bias_for_one_maker_looks_like_worth() -> None:
    panel = SimulatedPanel(("A", "A", "A", "B"), (Biases(family=2.0),) * 4)

    equal = next(follow_boards(panel, 100, "seed"))

    assert equal.told > 0.5
