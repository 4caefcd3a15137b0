"""A leaderboard as posts: what comes first, the notes, and the thread."""

from dataclasses import replace

import pytest

from bot.bakeoffs.render.leaderboard import leaderboard_thread, whole_board_posts
from bot.bakeoffs.render.leaderboard_tables import Coverage, Leaderboard, tie_note
from bot.bakeoffs.render.leaderboard_text import (
    claim_lines,
    council_value_lines,
    council_value_table,
    footnote_lines,
)
from bot.chat import Caution, File, Heading, Line, Note, Post, Table
from council.bakeoffs.changes import Changes
from council.bakeoffs.council_value import CouncilValue, Drafts, Payoff
from council.bakeoffs.leaderboard import Absences, Board, Gap
from council.bakeoffs.pairwise import RunOff
from tests.bot.bakeoffs.render.boards.builders import (
    CLAUDE,
    EMPTY,
    GPT,
    a_board,
    a_coverage,
    a_leaderboard,
    a_move,
    a_worth,
    graded,
)
from tests.bot.rounds import words_of


def table_of(post: Post) -> Table:
    (table,) = [part for part in post.parts if isinstance(part, Table)]
    return table


def notes(post: Post) -> str:
    return " ".join(part.text for part in post.parts if isinstance(part, Note))


def lines(post: Post) -> list[str]:
    return [part.text for part in post.parts if isinstance(part, Line)]


def reply(board: Leaderboard, heading: str) -> Post:
    replies = leaderboard_thread(board).replies
    (found,) = [post for post in replies if post.parts[0] == Heading(heading)]
    return found


def test_what_is_missing_comes_before_changes() -> None:
    missing = Absences((Gap(GPT, 9, 12),))

    for as_judge in (False, True):
        board = replace(a_leaderboard(), absences=missing)
        parts = leaderboard_thread(board, as_judge=as_judge).root.parts
        assert parts[1] == Caution("GPT-5.1 did not answer 9 of 12.")
        assert "fell" in parts[2].text  # type: ignore[union-attr]  # a line
    first, *_ = whole_board_posts(replace(a_leaderboard(), absences=missing))
    assert isinstance(first.parts[0], Caution)


def test_changes_come_before_the_first_five_members() -> None:
    root = leaderboard_thread(a_leaderboard(5)).root

    table = table_of(root)
    assert table.columns == ("", "Model", "Points", "95 % interval", "Right", "Price")
    assert table.rows[0] == ("=1", "Claude Sonnet 4.6", "71 %", "65–77 %", "19 of 24", "$0.012")
    kinds = [type(part) for part in root.parts]
    assert kinds == [Heading, *[Line] * kinds.count(Line), Table, Note]
    assert lines(root)[0] == (
        "Claude Sonnet 4.6 fell from 64 % to 49 % of rivals beaten (−15 points, −22 to −8); "
        "unlikely to be chance."
    )


def test_footnotes_explain_shared_places_the_run_off_and_coverage() -> None:
    found = notes(leaderboard_thread(a_leaderboard()).root)

    assert found.startswith("“=1”: the difference could be chance.")
    assert "Leave out the votes of Claude Sonnet 4.6 and GPT-5.1 themselves, and GPT-5.1" in found
    assert found.endswith(
        "36 rounds of suite sql, version 3f2a1b9c, panel house, 2026-10-12 to 2026-11-16. 14 "
        "rounds of 2 other versions are not included."
    )


def test_the_note_on_ties_shows_the_place_that_is_shared() -> None:
    assert tie_note(graded(10, 1, 1).board.rows) == "“=2”: the difference could be chance."
    assert tie_note(graded(10, 1).board.rows) == ""


def test_more_than_five_members_are_in_the_thread() -> None:
    board = replace(a_leaderboard(), board=a_board(8))

    thread = leaderboard_thread(board)

    assert len(table_of(thread.root).rows) == 5
    assert "And 3 more models." in notes(thread.root)
    assert len(table_of(reply(board, "All columns")).rows) == 8


def test_the_thread_has_all_columns_council_value_and_files() -> None:
    thread = leaderboard_thread(a_leaderboard(), b"\x89PNG")

    headings = [post.parts[0].text for post in thread.replies if isinstance(post.parts[0], Heading)]
    files = [part for post in thread.replies for part in post.parts if isinstance(part, File)]
    assert headings == [
        "All columns",
        "Is the council worth it here?",
    ]
    assert [file.name for file in files] == ["leaderboard.png", "leaderboard.csv"]
    assert files[0].content == b"\x89PNG"
    assert "=1. Claude Sonnet 4.6: Points 71 %" in files[0].text


def test_authors_have_cost_time_tokens_and_accuracy() -> None:
    board = a_leaderboard()
    best, *others = board.board.rows
    rows = (replace(best, named_itself=3), *(replace(x, grade=None) for x in others))
    shown = table_of(reply(replace(board, board=replace(board.board, rows=rows)), "All columns"))
    table = table_of(reply(board, "All columns"))

    assert "Named itself" not in table.columns  # nobody did
    at = shown.columns.index("Named itself"), shown.columns.index("Right")
    assert [(row[at[0]], row[at[1]]) for row in shown.rows] == [
        ("3 of 36", "19 of 24"),
        *[("", "")] * 4,
    ]
    first = dict(zip(table.columns, table.rows[0], strict=True))
    assert first["Price"] == "$0.012"
    assert first["Time"] == "4.1 s"
    assert first["Tokens"] == "512"
    assert first["First votes"] == "20"
    assert first["No answer"] == "0"


def test_only_a_judge_that_the_bias_report_finds_biased_is_labelled() -> None:
    as_judges = leaderboard_thread(a_leaderboard(), as_judge=True)
    table = table_of(as_judges.root)
    unmarked = replace(a_leaderboard(), biased=frozenset())

    third = dict(zip(table.columns, table.rows[2], strict=True))
    assert third["Judge"] == "Gemini 3 Pro"
    assert third["Shown first"] == "+.08 biased"
    assert third["Agreement"] == "+.02"
    assert third["95 % interval"] == "−.10 to +.10"
    assert third["Invalid"] == "6 %"
    assert third["Consistency"] == "5 of 7"
    assert "biased" not in words_of(leaderboard_thread(unmarked, as_judge=True).root)


def test_a_council_not_worth_its_cost_is_reported() -> None:
    post = reply(a_leaderboard(), "Is the council worth it here?")
    ungraded = leaderboard_thread(replace(a_leaderboard(), worth=CouncilValue()))
    few = " ".join(council_value_lines(replace(a_leaderboard(), worth=a_worth(None))))

    rows = table_of(post).rows
    assert [row[0] for row in rows] == ["Claude Sonnet 4.6 (best model)", "Council", "Winner"]
    assert rows[1][3] == "+4 (−6 to +14) points"
    assert post.parts[0] not in [reply.parts[0] for reply in ungraded.replies]
    assert few == "Too few graded questions to say: 24 of the 10 that are needed."
    assert lines(post) == [
        "No gain shown: Claude Sonnet 4.6 alone got 18 of 24 right for $0.012 a question, the "
        "council 19 for $0.061 a question and the best-ranked answer 18 for $0.050 a "
        "question.",
        "For the same money, Claude Sonnet 4.6 alone could be asked about 5 times. To see whether "
        "that does as well, set “drafts = 5” for it in council.toml and run the suite on a panel "
        "of nothing else.",
    ]


def test_a_panel_of_drafts_is_compared_with_the_council() -> None:
    drafts = Drafts(5, 24, 0.76, 0.058, 9.0, 0.03, (-0.05, 0.11))
    board = replace(a_leaderboard(), worth=replace(a_worth(Payoff.OPEN), drafts=drafts))

    found, table = [*council_value_lines(board)], council_value_table(board)

    assert found[0].startswith("No gain shown: Claude Sonnet 4.6 alone got 18 of 24 right")
    assert found[1] == (
        "Asked 5 times, Claude Sonnet 4.6 alone got 18.2 of 24 right, for $0.058 a question. "
        "Against that, the council is at +3 (−5 to +11) points."
    )
    assert table
    assert table.rows[-1] == ("Claude Sonnet 4.6, 5 drafts", "76 %", "", "", "$0.058", "9.0 s")


def test_where_people_voted_the_winner_is_compared_by_their_choice() -> None:
    _, winner = a_worth(Payoff.WORTH_IT).rows
    worth = replace(a_worth(), rows=(replace(winner, difference_ci=None),), is_voted=True)
    board = replace(a_leaderboard(), worth=worth)

    found, table = [*council_value_lines(board)], council_value_table(board)

    assert found[0] == (
        "Worth it here: the best-ranked answer was chosen by people in 18 of 24 for "
        "$0.050 a question, Claude Sonnet 4.6 alone 18 for $0.012 a question."
    )
    assert len(found) == 1
    assert table
    assert table.columns[1] == "Chosen"
    assert [*council_value_lines(replace(board, worth=CouncilValue()))] == []


def test_decisions_say_who_is_ahead_and_what_other_counts_would_say() -> None:
    board = a_leaderboard()
    rows = tuple(replace(x, strength=i / 10, is_tied=False) for i, x in enumerate(a_board().rows))
    mixed = Board(rows, None, (), 36, is_mixed=True)
    agreed = replace(board.board, run_off=RunOff(CLAUDE, GPT, 0.02, 36, changed=False))
    alone = Board(a_board(1).rows, None, (), 3)

    of_all, of_mixed, of_agreed, of_one = (
        [*claim_lines(one), *footnote_lines(one)]
        for one in (replace(board, board=shown) for shown in (board.board, mixed, agreed, alone))
    )

    assert "Claude Sonnet 4.6 is ahead of Qwen 3; unlikely to be chance." in of_all
    assert any(line.startswith("GPT-5.1 is ahead of Mistral") for line in of_all)
    assert of_mixed[0] == "No model is ahead of another beyond chance yet."
    assert "met every other: Mistral Large 3 (Europe, long context), Qwen 3," in of_mixed[1]
    assert of_agreed[-1] == (
        "Judges other than Claude Sonnet 4.6 and GPT-5.1 also prefer Claude Sonnet 4.6 (+.02 over "
        "36 rounds)."
    )
    level = replace(agreed, run_off=RunOff(CLAUDE, GPT, 0.001, 36, changed=False))
    assert [*footnote_lines(replace(board, board=level))][-1] == (
        "Judges other than Claude Sonnet 4.6 and GPT-5.1 rank both alike over 36 rounds."
    )
    assert of_one == []


@pytest.mark.parametrize(
    ("coverage", "text"),
    [
        (Coverage(), "No rounds yet"),
        (Coverage(suite="sql"), "No rounds yet for suite sql"),
        (Coverage(panel="house"), "No finished rounds of panel house. Check the spelling"),
        (
            Coverage(suite="sql", version="ffff", left_out=(("3f2a1b9c77de", 2),)),
            "No rounds yet for suite sql in version ffff; there are rounds of 3f2a1b9c.",
        ),
    ],
)
def test_without_rounds_a_sentence_says_what_to_do(coverage: Coverage, text: str) -> None:
    thread = leaderboard_thread(replace(EMPTY, coverage=coverage))

    assert text in notes(thread.root)
    assert not thread.replies


def test_a_board_over_all_rounds_lists_its_suites() -> None:
    suites = (("", "", 12), ("poems", "aa", 8), ("sql", "bb", 10), ("sql", "cc", 6))
    coverage = a_coverage(suite="", version="", suites=suites, left_out=())

    root = leaderboard_thread(replace(a_leaderboard(), coverage=coverage)).root

    assert root.parts[0] == Heading("Leaderboard")
    assert (
        "36 rounds: 8 of suite poems, 16 of suite sql in 2 versions and 12 asked by people"
        in notes(root)
    )


def test_an_unchanged_run_says_what_it_was_compared_with() -> None:
    quiet = Changes("b", 3, (a_move(GPT, 0.03, beyond=False),))

    root = leaderboard_thread(replace(a_leaderboard(), changes=quiet)).root

    assert root.parts[1] == Note("No change beyond chance since the last run.")
