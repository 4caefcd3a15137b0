"""Properties of standings and verdicts that hold for any ballots."""

from dataclasses import replace
from random import Random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from council.ballots import Ballot, Ranking
from council.labels import Label
from council.tally import count_ballots, standings
from council.tally.borda import borda_points, borda_shares, pair_matrix
from tests.builders import labels
from tests.council.tally.examples import shares

PANEL = labels("A B C D E")


@st.composite
def rankings(draw: st.DrawFn, over: tuple[Label, ...]) -> Ranking:
    """Draw an order of these labels, with ties anywhere."""
    order = draw(st.permutations(over))
    joined = draw(st.lists(st.booleans(), min_size=len(over) - 1, max_size=len(over) - 1))
    places: list[tuple[Label, ...]] = [(order[0],)]
    for label, join in zip(order[1:], joined, strict=True):
        places[-1:] = [(*places[-1], label)] if join else [places[-1], (label,)]
    return tuple(places)


@st.composite
def full_rounds(draw: st.DrawFn) -> tuple[Ballot, ...]:
    """Draw a ballot of every member of a panel of three to five."""
    panel = PANEL[: draw(st.integers(3, 5))]
    slates = {judge: tuple(label for label in panel if label != judge) for judge in panel}
    return tuple(Ballot(j, shown, draw(rankings(shown))) for j, shown in slates.items())


def _panel(ballots: tuple[Ballot, ...]) -> tuple[Label, ...]:
    return tuple(Label(ballot.judge) for ballot in ballots)


@given(full_rounds(), st.permutations(PANEL))
def test_relabelling_never_changes_a_tally(
    ballots: tuple[Ballot, ...], letters: list[Label]
) -> None:
    new = dict(zip(PANEL, letters, strict=True))
    renamed = [
        replace(
            ballot,
            shown=tuple(new[label] for label in ballot.shown),
            ranking=tuple(tuple(new[label] for label in place) for place in ballot.ranking),
        )
        for ballot in ballots
    ]

    before = standings(_panel(ballots), ballots)
    after = standings([new[label] for label in _panel(ballots)], renamed)

    assert [replace(line, label=new[line.label]) for line in before] == list(after)


@given(full_rounds(), st.randoms(use_true_random=False))
def test_the_order_of_the_ballots_never_changes_a_share(
    ballots: tuple[Ballot, ...], dice: Random
) -> None:
    mixed = list(ballots)
    dice.shuffle(mixed)

    assert shares(standings(_panel(ballots), mixed)) == pytest.approx(
        shares(standings(_panel(ballots), ballots))
    )


@given(full_rounds())
def test_with_all_ballots_the_pair_form_equals_the_mean_borda_share(
    ballots: tuple[Ballot, ...],
) -> None:
    given_shares = [borda_shares(ballot.ranking) for ballot in ballots]
    means = {
        label: fmean(own[label] for own in given_shares if label in own)
        for label in _panel(ballots)
    }

    assert shares(standings(_panel(ballots), ballots)) == pytest.approx(means)


@given(full_rounds())
def test_ties_do_not_change_the_points_of_a_ballot(ballots: tuple[Ballot, ...]) -> None:
    for ballot in ballots:
        shown = len(ballot.shown)

        assert sum(borda_points(ballot.ranking).values()) == shown * (shown - 1) / 2


@given(full_rounds())
def test_the_shares_of_a_full_panel_average_one_half(ballots: tuple[Ballot, ...]) -> None:
    lines = standings(_panel(ballots), ballots)

    assert fmean(line.share for line in lines if line.share is not None) == pytest.approx(0.5)


@given(full_rounds())
def test_the_shares_of_a_pair_sum_to_one(ballots: tuple[Ballot, ...]) -> None:
    matrix = pair_matrix(ballots)

    assert all(matrix[one, other] + matrix[other, one] == pytest.approx(1) for one, other in matrix)


@given(st.permutations(PANEL), st.sampled_from(PANEL))
def test_a_missing_ballot_changes_no_share(order: list[Label], lost: Label) -> None:
    # All judges hold the same order: whoever's ballot is lost, each share is as it was.
    ballots = [
        Ballot(judge, tuple(sorted(shown)), tuple((label,) for label in shown))
        for judge in PANEL
        for shown in [[label for label in order if label != judge]]
    ]

    fewer = standings(PANEL, [ballot for ballot in ballots if ballot.judge != lost])

    assert shares(fewer) == pytest.approx(shares(standings(PANEL, ballots)))


@given(full_rounds())
def test_an_answer_raised_on_one_ballot_never_falls(ballots: tuple[Ballot, ...]) -> None:
    raised = ballots[0].shown[0]
    rest = tuple(
        left for place in ballots[0].ranking if (left := tuple(x for x in place if x != raised))
    )
    better = (replace(ballots[0], ranking=((raised,), *rest)), *ballots[1:])

    before = shares(standings(_panel(ballots), ballots))[raised]
    after = shares(standings(_panel(ballots), better))[raised]

    assert before is not None
    assert after is not None
    assert after >= before - 1e-9


@given(full_rounds(), st.text(max_size=5))
def test_p_is_a_probability(ballots: tuple[Ballot, ...], seed: str) -> None:
    exact = ballots[:3]  # up to four answers a slate: 24³ outcomes at most

    p = count_ballots(_panel(ballots), exact, seed).verdict.p

    assert p is not None
    assert 0 < p <= 1
