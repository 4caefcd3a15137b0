"""Tampering with any field of a stored round is reported with the name of the field."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from council.ballots import (
    FIRST_VERSION,
    SECOND_VERSION,
    VERSION,
    Ballot,
    SpoiledBallot,
    cast_ballot,
)
from council.integrity.verification import Difference, verify
from council.labels import Slate
from council.prompts.shared import nonce_for
from council.round_rules import compute_draw
from council.rounds import Round, ballot_version
from council.tally import Strength
from tests.builders import (
    CLAUDE,
    GEMINI,
    a_ballot,
    a_panel,
    a_round,
    an_exchange,
    ballot_text,
    labels,
    with_answers,
    with_ballots,
)
from tests.council.integrity import tampering
from tests.council.integrity import tampering as t
from tests.council.integrity.tampering import ROUND, Tamper

BEST = min(label for _, label in ROUND.draw.labels.pairs) if ROUND.draw else ""
LINE, VOTED, SPOILED = f"standings[{BEST}]", f"ballots[{CLAUDE}]", f"spoiled[{GEMINI} #1]"
OTHER_NONCE = "0" * 16

# Nothing else follows from these, so they are the one difference.
ALONE: dict[str, Tamper] = {
    f"slates[{CLAUDE}]": t.turned_slate,
    f"{VOTED}.shown": t.ballot(lambda b: replace(b, shown=b.shown[::-1])),
    f"{VOTED}.ranking": t.ballot(lambda b: replace(b, ranking=b.ranking[::-1])),
    f"{VOTED}.reason": t.ballot(lambda b: replace(b, reason="K pays.")),
    f"{VOTED}.nonce": t.paper(lambda p: replace(p, nonce=OTHER_NONCE)),
    f"{LINE}.share": t.line(lambda s: replace(s, share=0.9)),
    f"{LINE}.points": t.line(lambda s: replace(s, points=7.0)),
    f"{LINE}.max_points": t.line(lambda s: replace(s, max_points=9)),
    f"{LINE}.place": t.line(lambda s: replace(s, place=2)),
    f"{LINE}.first_votes": t.line(lambda s: replace(s, first_votes=0)),
    f"{LINE}.mean_rank": t.line(lambda s: replace(s, mean_rank=1.5)),
    "verdict.strength": t.verdict(lambda v: replace(v, strength=Strength.CLEAR)),
    "verdict.p": t.verdict(lambda v: replace(v, p=0.01)),
    "verdict.first_on": t.verdict(lambda v: replace(v, first_on=(4, 4))),
    "verdict.too_few_judges": t.verdict(lambda v: replace(v, too_few_judges=True)),
    "verdict.flags": t.verdict(lambda v: replace(v, flags=())),
    "verdict.tau_b": t.agreement(lambda a: replace(a, tau_b=0.1)),
    "verdict.kendall_w": t.agreement(lambda a: replace(a, kendall_w=0.1)),
    "verdict.alpha": t.agreement(lambda a: replace(a, alpha=0.1)),
    f"{SPOILED}.fault": t.spoiled(lambda s: replace(s, fault="it was late")),
    f"{SPOILED}.nonce": t.spoiled(lambda s: replace(s, paper=replace(s.paper, nonce=OTHER_NONCE))),
}


def _fields(round_: Round) -> list[str]:
    return [difference.field for difference in verify(round_)]


@pytest.mark.parametrize(("field", "tamper"), ALONE.items(), ids=ALONE)
def test_a_single_change_is_named_by_its_field_alone(field: str, tamper: Tamper) -> None:
    assert _fields(tamper(ROUND)) == [field]


@pytest.mark.parametrize(
    ("tamper", "field"),
    [
        pytest.param(t.line(lambda s: replace(s, share=None)), f"{LINE}.share", id="share"),
        pytest.param(t.verdict(lambda v: replace(v, p=None)), "verdict.p", id="p"),
        pytest.param(t.missing_slate, f"slates[{CLAUDE}]", id="slate"),
        pytest.param(t.ballot(lambda b: replace(b, paper=None)), f"{VOTED}.ranking", id="paper"),
    ],
)
def test_a_removed_part_is_named(tamper: Tamper, field: str) -> None:
    assert field in _fields(tamper(ROUND))


def test_a_removed_draw_is_named() -> None:
    fields = _fields(replace(ROUND, draw=None))

    assert f"label map[{CLAUDE}]" in fields
    assert f"slates[{CLAUDE}]" in fields


def test_a_ballot_turned_into_an_audit_is_named() -> None:
    fields = _fields(t.ballot(lambda b: replace(b, audit="order"))(ROUND))

    assert f"ballots[{CLAUDE} audit order].audit" in fields
    assert f"{VOTED}.ranking" in fields


def test_a_changed_reply_shows_in_the_ranking() -> None:
    paper = ROUND.ballots[0].paper
    other = ballot_text("A=B=C", paper.nonce if paper else "")

    fields = _fields(t.raw_text(other)(ROUND))

    assert f"{VOTED}.ranking" in fields
    assert f"{LINE}.share" in fields


@pytest.mark.parametrize(
    "extra",
    [
        pytest.param(a_ballot("K M", by="nobody/at-all"), id="without-paper"),
        pytest.param(replace(ROUND.ballots[0], judge="nobody/at-all"), id="of-no-judge"),
    ],
)
def test_an_extra_ballot_is_named(extra: Ballot) -> None:
    fields = _fields(replace(ROUND, ballots=(*ROUND.ballots, extra)))

    assert "ballots[nobody/at-all].ranking" in fields


def test_an_invented_line_is_named() -> None:
    (label,) = labels("A")
    invented = t.line(lambda s: replace(s, label=label))

    assert "standings[A].share" in _fields(invented(ROUND))


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


def test_a_round_without_a_draw_verifies() -> None:
    assert verify(with_answers(a_round())) == ()


def test_a_round_without_a_tally_verifies() -> None:
    assert verify(replace(ROUND, tally=None)) == ()


def test_the_effective_number_of_judges_is_not_compared() -> None:
    assert verify(tampering.verdict(lambda v: replace(v, n_eff=2.5))(ROUND)) == ()


def test_rounding_errors_are_not_differences() -> None:
    rounded = tampering.line(lambda line: replace(line, share=(line.share or 0) - 1e-12))

    assert rounded(ROUND) != ROUND
    assert verify(rounded(ROUND)) == ()


def test_a_difference_names_stored_and_recomputed_values() -> None:
    assert str(Difference("verdict.p", 0.5, None)) == "verdict.p: stored 0.5, recomputed None"


@pytest.mark.parametrize(
    "versions",
    [(), (("ballots", SECOND_VERSION),), (("ballots", VERSION),)],
    ids=["first", "second", "newest"],
)
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
