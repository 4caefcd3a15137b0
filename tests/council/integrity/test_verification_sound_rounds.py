"""A sound round shows no difference."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from council.ballots import FIRST_VERSION, VERSION, SpoiledBallot, cast_ballot
from council.integrity.verification import Difference, verify
from council.labels import Slate
from council.prompts.shared import nonce_for
from council.round_rules import ballot_version, compute_draw
from tests.builders import (
    CLAUDE,
    GEMINI,
    GPT,
    a_panel,
    a_round,
    an_exchange,
    ballot_text,
    with_answers,
    with_ballots,
)
from tests.council.integrity import tampering
from tests.council.integrity.tampering import ROUND


def test_an_unchanged_round_verifies() -> None:
    assert verify(ROUND) == ()


@settings(deadline=None)
@given(
    st.text(max_size=8),
    st.integers(2, 4),
    st.integers(0, 1),
    st.lists(st.permutations("ABCDE"), min_size=6, max_size=6),
)
def test_every_unchanged_round_verifies(
    seed: str, members: int, outside: int, orders: list[list[str]]
) -> None:
    ways = iter(orders)

    def vote(slate: Slate) -> str:
        return " ".join(letter for letter in next(ways) if letter in slate.letters)

    round_ = with_ballots(with_answers(a_round(a_panel(members, outside=outside), seed=seed)), vote)

    assert verify(round_) == ()


def test_a_round_with_a_sampled_p_verifies() -> None:
    assert verify(with_ballots(with_answers(a_round(a_panel(6))))) == ()


@pytest.mark.parametrize("versions", [(), (("ballots", VERSION),)], ids=["first", "newest"])
def test_a_ballot_is_read_by_the_rules_of_its_round(versions: tuple[tuple[str, str], ...]) -> None:
    opened = replace(with_answers(a_round(seed="s")), versions=versions)
    reply = ballot_text("A B", nonce_for("s", CLAUDE))[:-1] + ', "winner": "B"}'
    slate = next(slate for slate in compute_draw(opened).slates if slate.judge == CLAUDE)
    paper = an_exchange(reply, nonce=nonce_for("s", CLAUDE))
    ballot = cast_ballot(slate, paper.nonce, paper, version=ballot_version(opened))
    round_ = replace(opened, draw=compute_draw(opened)).with_(ballot)

    assert isinstance(ballot, SpoiledBallot) is bool(versions)
    assert verify(round_) == ()
    assert verify(replace(round_, versions=(("ballots", FIRST_VERSION if versions else VERSION),)))


def test_a_round_without_a_draw_verifies() -> None:
    assert verify(with_answers(a_round())) == ()


def test_a_round_without_a_tally_verifies() -> None:
    assert verify(replace(ROUND, tally=None)) == ()


def test_a_round_with_absent_seats_verifies() -> None:
    round_ = with_answers(a_round(a_panel(4)), {CLAUDE: "a", GPT: "b", GEMINI: "c"})

    assert verify(with_ballots(round_)) == ()


def test_a_recomputed_draw_equals_the_stored_one() -> None:
    assert compute_draw(ROUND) == ROUND.draw


def test_the_effective_number_of_judges_is_not_compared() -> None:
    assert verify(tampering.verdict(lambda v: replace(v, n_eff=2.5))(ROUND)) == ()


def test_rounding_errors_are_not_differences() -> None:
    rounded = tampering.line(lambda line: replace(line, share=(line.share or 0) - 1e-12))

    assert rounded(ROUND) != ROUND
    assert verify(rounded(ROUND)) == ()


def test_a_difference_names_stored_and_recomputed_values() -> None:
    assert str(Difference("verdict.p", 0.5, None)) == "verdict.p: stored 0.5, recomputed None"
