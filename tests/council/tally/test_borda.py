"""Standings: the worked examples of the method, ties, and ballots that do not count."""

import pytest

from council.tally.borda import is_sole_first, pair_matrix, pair_share, standings
from tests.builders import a_ballot, labels
from tests.council.tally.examples import E1, full_panel, places, shares, without_own

ABCD = labels("A B C D")


def test_the_worked_example_gives_its_mean_shares() -> None:
    # By hand: A (1+1+.5)/3, B (1+.25+1)/3, C (.5+.25+0)/3, D (0+.25+.25)/3
    lines = standings(ABCD, E1)

    assert shares(lines) == pytest.approx(
        {"A": 0.8333, "B": 0.75, "C": 0.25, "D": 0.1667}, abs=1e-4
    )


def test_the_worked_example_gives_its_points() -> None:
    lines = standings(ABCD, E1)

    assert [(line.label, line.points, line.max_points) for line in lines] == [
        ("A", 5, 6),
        ("B", 4.5, 6),
        ("C", 1.5, 6),
        ("D", 1, 6),
    ]


def test_the_worked_example_gives_its_mean_ranks() -> None:
    # By hand: A (1+1+2)/3, B (1+2.5+1)/3, C (2+2.5+3)/3, D (3+2.5+2.5)/3
    lines = standings(ABCD, E1)

    assert [line.mean_rank for line in lines] == pytest.approx([4 / 3, 1.5, 2.5, 8 / 3])


def test_the_worked_example_gives_its_first_votes_and_places() -> None:
    lines = standings(ABCD, E1)

    assert [(line.label, line.first_votes, line.place) for line in lines] == [
        ("A", 2, 1),
        ("B", 2, 2),
        ("C", 0, 3),
        ("D", 0, 4),
    ]


def test_the_worked_example_gives_its_pairs() -> None:
    a, b, c, d = ABCD

    matrix = pair_matrix(E1)

    assert matrix[a, b] == matrix[b, a] == 0.5
    assert matrix[b, d] == matrix[c, d] == 0.75
    assert matrix[d, b] == matrix[d, c] == 0.25
    assert matrix[a, c] == matrix[a, d] == matrix[b, c] == 1.0


def test_a_lost_ballot_does_not_punish_the_judge_who_lost_it() -> None:
    # A and B lead every ballot; A's own is lost. Naive Borda would give A .833 and B .75.
    ballots = without_own("A B C D", "B C D")

    lines = standings(ABCD, ballots)

    assert shares(lines) == pytest.approx({"A": 1, "B": 2 / 3, "C": 1 / 3, "D": 0})


def test_the_example_of_the_pair_form_gives_its_numbers() -> None:
    # B: A>C>D, C: A>B>D, D: B>A>C. p_AB = ½, p_AC = p_AD = 1; p_BA = ½, p_BC = p_BD = 1;
    # p_CA = p_CB = 0, p_CD = 1; D loses all.
    ballots = (
        a_ballot("A C D", by="B"),
        a_ballot("A B D", by="C"),
        a_ballot("B A C", by="D"),
    )

    lines = standings(ABCD, ballots)

    assert shares(lines) == pytest.approx({"A": 5 / 6, "B": 5 / 6, "C": 1 / 3, "D": 0})
    assert places(lines) == {"A": 1, "B": 1, "C": 3, "D": 4}


def test_equal_shares_share_a_place_and_skip_the_next() -> None:
    lines = standings(labels("A B C"), [a_ballot("A=B C"), a_ballot("B=A C", by="K")])

    assert places(lines) == {"A": 1, "B": 1, "C": 3}


def test_shares_that_differ_by_rounding_alone_share_a_place() -> None:
    # By hand A (½ + ½ + ½)/3 and D (½ + ⅓ + ⅔)/3 are both ½; as floats they are not equal.
    lines = standings(ABCD, [a_ballot("A B C D"), a_ballot("D C B A"), a_ballot("C D B")])

    assert shares(lines)["A"] != shares(lines)["D"]
    assert places(lines) == {"C": 1, "A": 2, "D": 2, "B": 4}


def test_an_unranked_answer_has_no_share_and_comes_last() -> None:
    lines = standings(ABCD, [a_ballot("B A C")])

    assert lines[-1].label == "D"
    assert (lines[-1].share, lines[-1].mean_rank, lines[-1].place) == (None, None, 4)
    assert (lines[-1].points, lines[-1].max_points, lines[-1].first_votes) == (0, 0, 0)


def test_an_answer_that_lost_every_pair_ranks_above_an_unranked_one() -> None:
    lines = standings(labels("D A B"), [a_ballot("A B")])

    assert [line.label for line in lines] == ["A", "B", "D"]


def test_a_ballot_over_one_answer_is_not_counted() -> None:
    assert standings(labels("A B"), [a_ballot("A")])[0].max_points == 0


def test_an_audit_ballot_is_not_counted() -> None:
    audited = a_ballot("B A", audit="own visible")

    assert shares(standings(labels("A B"), [a_ballot("A B"), audited])) == {"A": 1, "B": 0}


def test_unseen_pairs_are_left_out_of_a_share() -> None:
    matrix = pair_matrix([a_ballot("A B"), a_ballot("C D")])

    assert pair_share(labels("A")[0], matrix) == 1.0
    assert set(matrix) == {("A", "B"), ("B", "A"), ("C", "D"), ("D", "C")}


def test_a_shared_first_place_is_not_a_first_vote() -> None:
    a, b = labels("A B")

    assert is_sole_first(a_ballot("A B C"), a)
    assert not is_sole_first(a_ballot("A=B C"), a)
    assert not is_sole_first(a_ballot("A B C"), b)


def test_every_ballot_distributes_all_its_points() -> None:
    # Four ballots over three answers give 2 + 1 + 0 points each.
    lines = standings(ABCD, full_panel("B C D", "A C D", "D A B", "C B A"))

    assert sum(line.points for line in lines) == 4 * 3
