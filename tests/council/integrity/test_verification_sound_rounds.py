"""A sound round shows no difference."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from council.integrity.verification import Difference, verify
from council.labels import Slate
from council.round_rules import compute_draw
from tests.builders import CLAUDE, GEMINI, GPT, a_panel, a_round, with_answers, with_ballots
from tests.council.integrity import tampering
from tests.council.integrity.tampering import ROUND


def test_an_untouched_round_shows_no_difference() -> None:
    assert verify(ROUND) == ()


@settings(deadline=None)
@given(
    st.text(max_size=8),
    st.integers(2, 4),
    st.integers(0, 1),
    st.lists(st.permutations("ABCDE"), min_size=6, max_size=6),
)
def test_no_untouched_round_shows_a_difference(
    seed: str, members: int, outside: int, orders: list[list[str]]
) -> None:
    ways = iter(orders)

    def vote(slate: Slate) -> str:
        return " ".join(letter for letter in next(ways) if letter in slate.letters)

    round_ = with_ballots(with_answers(a_round(a_panel(members, outside=outside), seed=seed)), vote)

    assert verify(round_) == ()


def test_a_round_whose_p_was_drawn_shows_no_difference() -> None:
    assert verify(with_ballots(with_answers(a_round(a_panel(6))))) == ()


def test_a_round_that_has_drawn_nothing_yet_shows_no_difference() -> None:
    assert verify(with_answers(a_round())) == ()


def test_a_round_that_has_not_counted_yet_shows_no_difference() -> None:
    assert verify(replace(ROUND, tally=None)) == ()


def test_a_round_with_absent_seats_shows_no_difference() -> None:
    round_ = with_answers(a_round(a_panel(4)), {CLAUDE: "a", GPT: "b", GEMINI: "c"})

    assert verify(with_ballots(round_)) == ()


def test_what_is_drawn_again_is_what_was_drawn() -> None:
    assert compute_draw(ROUND) == ROUND.draw


def test_the_effective_number_of_judges_rests_on_other_rounds_and_is_not_compared() -> None:
    assert verify(tampering.verdict(lambda v: replace(v, n_eff=2.5))(ROUND)) == ()


def test_a_share_that_differs_by_rounding_is_the_same() -> None:
    rounded = tampering.line(lambda line: replace(line, share=(line.share or 0) - 1e-12))

    assert rounded(ROUND) != ROUND
    assert verify(rounded(ROUND)) == ()


def test_a_difference_says_what_is_stored_and_what_follows() -> None:
    assert str(Difference("verdict.p", 0.5, None)) == "verdict.p: stored 0.5, recomputed None"
