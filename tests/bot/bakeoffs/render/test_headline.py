"""The headline of a board: who leads by what decides, what is missing, who is cheapest."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from bot.bakeoffs.leaderboard import LeaderboardQuery, count_records
from bot.bakeoffs.render.headline import cheapest_line, headline, missing_lines
from bot.bakeoffs.render.leaderboard import describe_chart, short_table
from bot.bakeoffs.render.leaderboard_export import leaderboard_document
from bot.bakeoffs.render.leaderboard_tables import Leaderboard, author_table
from council.bakeoffs.leaderboard import RankedBy
from council.bakeoffs.pairwise import Duel
from council.bakeoffs.record_arrays import pack_record
from council.bakeoffs.records import JudgeRecord
from tests.bot.bakeoffs.render.boards.builders import (
    CLAUDE,
    GEMINI,
    GPT,
    NAMES,
    QWEN,
    a_board,
    a_leaderboard,
    graded,
)
from tests.council.bakeoffs.record_builders import a_record


@pytest.mark.parametrize(
    ("right", "said"),
    [
        ((9, 7), "No difference shown: Claude Sonnet 4.6 has 9 of 10 right, GPT-5.1 7."),
        (
            (10, 2),
            "Claude Sonnet 4.6 leads with 10 of 10 right, GPT-5.1 has 2; unlikely to be chance "
            "(+80 points, +50 to +100).",
        ),
        (
            (1, 10, 1),
            "GPT-5.1 leads with 10 of 10 right, Claude Sonnet 4.6 and Gemini 3 Pro have 1; "
            "unlikely to be chance (+90 points, +67 to +100).",
        ),
        (
            (9, 9, 8),
            "No difference shown: Claude Sonnet 4.6 has 9 of 10 right, GPT-5.1 9 and Gemini 3 Pro "
            "8.",
        ),
        ((9,), "Claude Sonnet 4.6 has 9 of 10 right."),
        (
            (8, 7, 6, 5),
            "No difference shown: Claude Sonnet 4.6 has 8 of 10 right, GPT-5.1 7, Gemini 3 Pro 6 "
            "and Qwen 3 5.",
        ),
        (
            (8, 7, 6, 6, 5),
            "No difference shown among 5 models, from Claude Sonnet 4.6 with 8 of 10 right to "
            "Mistral Large 3 (Europe, long context) with 5.",
        ),
    ],
)
def test_the_headline_is_one_sentence_about_right_answers(
    right: tuple[int, ...], said: str
) -> None:
    assert headline(graded(*right)) == said


def on_questions(asked: Mapping[str, range], right: Mapping[str, range]) -> Leaderboard:
    """Return a board of models that were asked some questions, and are right on some of them."""
    numbers = sorted({number for numbers in asked.values() for number in numbers})
    records = []
    for number in numbers:
        members = [member for member, those in asked.items() if number in those]
        correct = {member: number in right[member] for member in members}
        records.append(a_record(dict.fromkeys(members, 0.5), number=number, correct=correct))
    return count_records([*map(pack_record, records)], LeaderboardQuery("sql"), NAMES)


def test_models_of_unequal_numbers_of_questions_are_compared_on_those_of_both() -> None:
    asked = {CLAUDE: range(1, 13), GPT: range(1, 25), GEMINI: range(1, 25)}
    level = on_questions(asked, {CLAUDE: range(1, 13), GPT: range(1, 24), GEMINI: range(1, 23)})
    ahead = on_questions(asked, {CLAUDE: range(1, 13), GPT: range(12, 25), GEMINI: range(0)})

    assert headline(level) == (
        "No difference shown: Claude Sonnet 4.6 has 12 of 12 right, GPT-5.1 23 of 24 and Gemini 3 "
        "Pro 22 of 24."
    )
    assert headline(ahead).startswith(
        "Claude Sonnet 4.6 leads with 12 of 12 right, GPT-5.1 has 13 of 24; unlikely to be chance "
        "(+92 points on 12 common questions, "
    )


def test_only_models_that_are_compared_are_said_to_be_behind_or_equal() -> None:
    apart = {CLAUDE: range(1, 13), GPT: range(13, 25)}
    with_few = {CLAUDE: range(1, 25), GPT: range(1, 25), GEMINI: range(1, 13)}
    right = {CLAUDE: range(1, 25), GPT: range(22, 25), GEMINI: range(12, 13)}

    assert headline(on_questions(apart, apart)) == (
        "Not comparable, since the questions differ: Claude Sonnet 4.6 has 12 of 12 right, GPT-5.1 "
        "12."
    )
    assert cheapest_line(on_questions(apart, apart)) == ""
    assert "GPT-5.1 has 3; unlikely" in headline(on_questions(with_few, right))


def test_a_model_that_leads_where_both_were_asked_is_not_called_equal() -> None:
    asked = {CLAUDE: range(1, 61), GPT: range(41, 61)}
    board = on_questions(asked, {CLAUDE: range(1, 49), GPT: range(41, 56)})

    assert headline(board).startswith(
        "Claude Sonnet 4.6 has 48 of 60 right, GPT-5.1 15 of 20, but GPT-5.1 leads where both were "
        "asked; unlikely to be chance (+35 points on 20 common questions, "
    )


def test_the_points_of_judges_who_prefer_a_wrong_model_do_not_decide() -> None:
    board = graded(6, 12, of=12, shares=(0.9, 0.1))

    assert headline(board).startswith("GPT-5.1 leads with 12 of 12 right")
    assert [(line.member, line.place) for line in board.board.rows] == [(GPT, 1), (CLAUDE, 2)]
    assert short_table(board).columns == ("#", "Model", "Right", "Points")
    assert author_table(board, 5).columns[:5] == ("", "Model", "Right", "95 % interval", "Points")
    assert describe_chart(board).startswith("Right answers, 95 % interval")
    assert leaderboard_document(board)["ranked_by"] == "grades"


def test_below_ten_graded_questions_the_judges_points_decide() -> None:
    board = graded(1, 9, of=9, shares=(0.9, 0.1))

    assert headline(board).startswith("By the judges’ points, Claude Sonnet 4.6 leads with 90 %")
    assert short_table(board).columns == ("#", "Model", "Points", "Right")
    assert leaderboard_document(board)["ranked_by"] == "points"
    assert headline(graded(9, of=9)) == ""


def test_partly_right_answers_are_ranked_by_their_mean_grade() -> None:
    records = [
        a_record(
            {CLAUDE: 0.5, GPT: 0.5},
            number=n,
            grade={CLAUDE: 0.75, GPT: 0.25 + 0.01 * n},
            correct={},
        )
        for n in range(1, 13)
    ]
    board = count_records([*map(pack_record, records)], LeaderboardQuery("sql"), NAMES)

    assert headline(board).startswith(
        "Claude Sonnet 4.6 leads with a mean grade of .75, GPT-5.1 has .32; unlikely to be chance"
    )
    assert author_table(board, 5).columns[2] == "Mean grade"


def test_a_model_that_did_not_answer_is_not_right() -> None:
    rounds = [
        a_record(
            {CLAUDE: 1.0, GPT: 0.0 if n <= 3 else None, GEMINI: 0.5},
            number=n,
            correct={CLAUDE: True, GEMINI: True} | ({GPT: True} if n <= 3 else {}),
            judged=(
                JudgeRecord(CLAUDE, valid=n > 1, spoiled=1),
                JudgeRecord(GPT, valid=False, spoiled=2),
            ),
        )
        for n in range(1, 13)
    ]
    board = count_records([*map(pack_record, rounds)], LeaderboardQuery("sql"), NAMES)

    assert [*missing_lines(board)] == [
        "GPT-5.1 did not answer 9 of 12.",
        "None of GPT-5.1’s rankings could be read.",
        "1 of 12 rankings by Claude Sonnet 4.6 could not be read.",
    ]
    assert leaderboard_document(board)["missing"] == [*missing_lines(board)]
    line = next(one for one in board.board.rows if one.member == GPT)
    assert (line.right, line.graded, line.place) == (3, 12, 3)


def test_many_models_that_did_not_answer_are_counted() -> None:
    record = a_record({CLAUDE: None, GPT: None, GEMINI: None, QWEN: None})
    board = count_records([pack_record(record)], LeaderboardQuery(), NAMES)

    assert [*missing_lines(board)][3:] == ["1 other model did not answer all."]


def test_models_of_few_rounds_have_no_place_on_a_board_over_all_rounds() -> None:
    rounds = [a_record({CLAUDE: 0.5, GPT: 0.5}, number=n) for n in range(1, 13)]
    rounds += [a_record({CLAUDE: 0.0, QWEN: 1.0}, number=n) for n in range(13, 18)]
    packed = [*map(pack_record, rounds)]

    over_all = count_records(packed, LeaderboardQuery(), NAMES)
    of_suite = count_records(packed, LeaderboardQuery("sql"), NAMES)

    assert [line.place for line in over_all.board.rows] == [1, 1, None]
    assert over_all.board.rows[2].member == QWEN
    assert None not in [line.place for line in of_suite.board.rows]
    few = count_records(packed[-5:], LeaderboardQuery(), NAMES)
    assert [line.place for line in few.board.rows] == [1, 1]


def test_a_headline_by_points_says_how_sure_it_is() -> None:
    board = a_leaderboard()
    leads = "By the judges’ points, Claude Sonnet 4.6 leads with 71 %, 5 points ahead of GPT-5.1"
    ahead, behind = Duel(CLAUDE, GPT, 0.1, 36, CLAUDE), Duel(CLAUDE, GPT, -0.1, 36, GPT)
    first, second, *_ = board.board.rows

    def said(**changed: object) -> str:
        found = replace(board.board, **changed)  # type: ignore[arg-type]  # as the test says
        return headline(replace(board, board=found))

    assert said() == f"{leads}; that may be chance."
    assert said(duels=(ahead,)) == f"{leads}; unlikely to be chance."
    assert said(duels=(behind,)) == (
        f"{leads}, but judges other than GPT-5.1 and Claude Sonnet 4.6 prefer GPT-5.1."
    )
    few = tuple(replace(row, rounds=9) for row in (first, second))
    assert said(rows=few) == f"{leads}; with fewer than 10 rounds, that can be chance."
    assert said(rows=(first,)) == ""


def test_all_that_share_the_most_points_are_named() -> None:
    board = a_leaderboard()
    first, *others = board.board.rows
    even = (first, *(replace(row, share=first.share) for row in others))

    def said(count: int, *duels: Duel) -> str:
        return headline(replace(board, board=replace(board.board, rows=even[:count], duels=duels)))

    three = "By the judges’ points, Claude Sonnet 4.6, GPT-5.1 and Gemini 3 Pro lead with 71 %"
    assert said(2) == (
        "By the judges’ points, Claude Sonnet 4.6 and GPT-5.1 lead with 71 %; that may be chance."
    )
    assert said(3) == f"{three}; that may be chance."
    assert said(3, Duel(GPT, GEMINI, 0.1, 36, GEMINI)) == (
        f"{three}, but judges other than Gemini 3 Pro and GPT-5.1 prefer Gemini 3 Pro."
    )
    assert said(4).startswith("By the judges’ points, 4 models lead with 71 %")


def test_the_cheapest_model_that_keeps_up_is_named_with_its_price() -> None:
    board = graded(10, 9, 2)

    assert cheapest_line(board) == "Cheapest model that keeps up: GPT-5.1, $0.0060 a question."
    assert cheapest_line(graded(10, 1, 1)) == "No cheaper model matched Claude Sonnet 4.6 here."
    assert leaderboard_document(board)["cheapest"] == GPT


def test_a_cheaper_model_that_shares_the_first_place_is_not_said_to_be_beaten() -> None:
    asked = {CLAUDE: range(1, 32), GPT: range(1, 32), GEMINI: range(1, 32)}
    right = {CLAUDE: range(1, 26), GPT: range(5, 26), GEMINI: range(0)}
    board = on_questions(asked, right)

    def priced(gpt: float = 0.01) -> Leaderboard:
        costs = {CLAUDE: 0.03, GPT: gpt, GEMINI: 0.001}
        rows = tuple(replace(line, cost_usd=costs[line.member]) for line in board.board.rows)
        return replace(board, board=replace(board.board, rows=rows))

    assert [line.place for line in board.board.rows] == [1, 1, 3]
    found = board.board.compared(CLAUDE, GPT)
    assert found is not None
    assert (found.ahead, found.ci[0] > 0) == (None, True)  # 4 : 0; the sign test has p = .125
    assert cheapest_line(priced()) == (
        "GPT-5.1 costs a third and shares the first place, but could be up to "
        f"{round(found.ci[1] * 100)} points worse."
    )
    assert cheapest_line(priced(0.0)).startswith("GPT-5.1 costs $0 a question instead of $0.030")
    assert cheapest_line(priced(0.04)) == "No cheaper model matched Claude Sonnet 4.6 here."
    assert leaderboard_document(priced())["cheapest"] == CLAUDE
    assert leaderboard_document(priced())["cheapest_line"] == cheapest_line(priced())


def test_a_cheaper_one_that_shares_the_place_stands_next_to_the_cheapest_that_keeps_up() -> None:
    asked = {CLAUDE: range(1, 32), GPT: range(1, 32), GEMINI: range(1, 32)}
    right = {CLAUDE: range(1, 26), GPT: range(2, 27), GEMINI: range(5, 26)}
    board = on_questions(asked, right)
    costs = {CLAUDE: 0.03, GPT: 0.02, GEMINI: 0.003}
    rows = tuple(replace(line, cost_usd=costs[line.member]) for line in board.board.rows)

    assert cheapest_line(replace(board, board=replace(board.board, rows=rows))) == (
        "Cheapest model that keeps up: GPT-5.1, $0.020 a question. Gemini 3 Pro costs a tenth and "
        "shares the first place, but could be up to 26 points worse."
    )


def test_a_model_that_leads_where_both_were_asked_keeps_up() -> None:
    asked = {CLAUDE: range(1, 61), GPT: range(41, 61)}
    board = on_questions(asked, {CLAUDE: range(1, 49), GPT: range(41, 56)})
    costs = {CLAUDE: 0.03, GPT: 0.01}
    rows = tuple(replace(line, cost_usd=costs[line.member]) for line in board.board.rows)

    line = cheapest_line(replace(board, board=replace(board.board, rows=rows)))

    assert line == "Cheapest model that keeps up: GPT-5.1, $0.010 a question."


def test_by_points_a_model_that_shares_the_place_is_behind_by_its_interval_at_most() -> None:
    board = a_leaderboard()
    first, second, *others = board.board.rows
    apart = (first, replace(second, ci=(0.5, 0.7)), *others)

    line = cheapest_line(replace(board, board=replace(board.board, rows=apart)))

    assert line == (
        "GPT-5.1 costs half and shares the first place, but could be up to 21 points worse."
    )


def test_without_common_questions_no_cheaper_model_is_said_to_be_beaten() -> None:
    apart = {CLAUDE: range(1, 13), GPT: range(13, 25)}
    board = on_questions(apart, apart)
    first, second = board.board.rows
    rows = (replace(first, cost_usd=0.03), replace(second, cost_usd=0.01))

    assert cheapest_line(replace(board, board=replace(board.board, rows=rows))) == ""


def test_without_a_price_or_a_rival_no_model_is_the_cheapest() -> None:
    board = graded(10, 9)
    first, second = board.board.rows
    unpriced = replace(board.board, rows=(first, replace(second, cost_usd=None)))

    assert cheapest_line(replace(board, board=unpriced)) == ""
    assert cheapest_line(graded(10)) == ""
    dear = replace(board.board, rows=(first, replace(second, cost_usd=1.0)))
    assert cheapest_line(replace(board, board=dear)) == ""
    by_points = replace(a_leaderboard(), board=a_board())
    assert by_points.board.ranked_by is RankedBy.POINTS
    assert cheapest_line(by_points).endswith("GPT-5.1, $0.0060 a question.")
