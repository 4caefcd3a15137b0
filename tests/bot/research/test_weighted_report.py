"""A leaderboard by weighted judges: what changes, why, and when it is not available."""

import json
from dataclasses import replace

import pytest

from bot.bakeoffs.leaderboard import WEIGHTS
from bot.bakeoffs.render.leaderboard import leaderboard_thread
from bot.bakeoffs.render.leaderboard_export import leaderboard_document
from bot.bakeoffs.render.leaderboard_tables import Leaderboard
from bot.chat import Part, Post, Table
from tests.bot.bakeoffs.render.boards.builders import CLAUDE, EMPTY, GPT, a_leaderboard
from tests.bot.research.weighted_builders import a_line, beside_people, lacking, weighed_by
from tests.bot.rounds import words_of


def parts_of(board: Leaderboard) -> tuple[Part, ...]:
    assert board.weighted
    return board.weighted.parts


def _words(board: Leaderboard) -> str:
    return words_of(Post(parts_of(board)))


def test_rank_changes_are_summarised() -> None:
    text = _words(weighed_by())

    assert "With judges weighted by consistency" in text
    assert (
        "By average points, GPT-5.1 is 1st instead of 2nd and Claude Sonnet 4.6 is 2nd "
        "instead of 1st." in text
    )
    assert "This is in addition to the official places and changes none of them." in text


def test_an_unchanged_order_is_reported() -> None:
    assert "The order is the same as with equal weights" in _words(
        weighed_by(rows=(a_line(CLAUDE, 1, 1), a_line(GPT, 2, 2)))
    )


def test_members_and_judges_have_a_table_each() -> None:
    members, judges = (p for p in parts_of(weighed_by()) if isinstance(p, Table))

    assert members.rows[0] == ("1", "GPT-5.1", "70 %", "65–75 %", "66 % (2nd)", "+.04", "36")
    assert members.rows[2][5] == "0"
    assert judges.columns == ("Judge", "Weight", "Consistency", "Repeated rankings")
    assert judges.rows[0] == ("Claude Sonnet 4.6", "50 %", "0.91", "24")
    assert judges.rows[2] == ("Qwen 3", "20 %", "too few to say", "3")


def test_a_rank_of_more_than_one_digit_has_its_ending() -> None:
    rows = (a_line(CLAUDE, 21, 12), a_line(GPT, 12, 21))

    text = _words(weighed_by(rows=rows))

    assert "Claude Sonnet 4.6 is 21st instead of 12th" in text


@pytest.mark.parametrize("name", WEIGHTS)
def test_every_kind_of_weights_can_be_shown(name: str) -> None:
    text = _words(weighed_by(name))

    assert "Claude Sonnet 4.6" in text
    assert ("Weight" in text) == (name != "uniform")


@pytest.mark.parametrize(
    ("name", "have", "sentence"),
    [
        ("consistency", 7, "20 repeated rankings of one judge; the most so far is"),
        ("human", 3, "needs 20 votes (3 so far)"),
    ],
)
def test_too_little_data_for_weights_is_reported(name: str, have: int, sentence: str) -> None:
    text = _words(lacking(name, have))

    assert sentence in text
    assert "Until then judges are weighted equally." in text


def test_rounds_without_stored_ballots_are_counted() -> None:
    assert "4 rounds have no saved rankings." in _words(weighed_by(rounds=32))
    assert "The rankings of these rounds were not saved" in _words(lacking("family", 0, 0))


def test_no_weighted_board_if_no_round_counts() -> None:
    empty = replace(EMPTY, weighted=weighed_by().weighted)

    assert leaderboard_thread(empty).replies == ()


def test_the_thread_has_a_post_with_the_weighted_board() -> None:
    posts = leaderboard_thread(weighed_by()).replies

    assert [post for post in posts if post.summary == "With weighted judges"]
    assert len(posts) == len(leaderboard_thread(a_leaderboard()).replies) + 1


def test_json_has_a_separate_key_and_unchanged_rows() -> None:
    weighed, plain = leaderboard_document(weighed_by()), leaderboard_document(a_leaderboard())

    assert plain["weighted"] is None
    assert weighed["rows"] == plain["rows"]
    found = json.loads(json.dumps(weighed["weighted"]))
    assert (found["weights"], found["is_usable"], found["moved"]) == (
        "consistency",
        True,
        [GPT, CLAUDE],
    )
    assert found["rows"][0]["member"] == GPT
    assert found["judges"][2]["basis"] is None


def test_the_judges_table_shows_agreement_with_people() -> None:
    words = words_of(leaderboard_thread(beside_people(), as_judge=True).root)
    rows = leaderboard_document(beside_people(), as_judge=True)["rows"]

    assert "With people" in words
    assert "12 of 31" in words
    assert "+.21, −.04 to +.46" in words
    assert (rows[0]["people_kappa"], rows[0]["people_kappa_ci"]) == (0.21, [-0.04, 0.46])
    assert (rows[1]["people_kappa"], rows[1]["people_kappa_ci"]) == (None, None)
    assert rows[0]["with_people"] == pytest.approx(12 / 31)
    assert (rows[1]["with_people"], rows[1]["people_votes"]) == (None, 0)
    assert "With people" not in [
        c
        for p in leaderboard_thread(a_leaderboard(), as_judge=True).root.parts
        if isinstance(p, Table)
        for c in p.columns
    ]
