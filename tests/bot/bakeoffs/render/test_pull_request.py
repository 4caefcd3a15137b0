"""The comment on a pull request: the headline, what changed question by question, 60 lines."""

from dataclasses import replace

import pytest

from bot.bakeoffs.leaderboard import LeaderboardQuery, compute_changes, count_records
from bot.bakeoffs.matrix import against_baseline
from bot.bakeoffs.records import Baseline
from bot.bakeoffs.render.pull_request import MAX_LINES, pull_request_comment
from council.bakeoffs.matrix import RunMatrix, build_matrix
from council.bakeoffs.models import BakeoffProgress, Ending, FailedQuestion
from council.bakeoffs.record_arrays import pack_record
from council.bakeoffs.records import CouncilRecord, PackedRecord
from tests.bot.bakeoffs.fakes import a_bakeoff, a_graded_suite
from tests.bot.bakeoffs.render.boards.builders import CLAUDE, GPT, NAMES
from tests.builders import ASKED_AT
from tests.council.bakeoffs.record_builders import a_record

QUESTIONS = 48
SUITE = a_graded_suite(*["1"] * QUESTIONS)
BAKEOFF = a_bakeoff(SUITE)


def a_run(claude: int, gpt: int, run: int = 0) -> list[PackedRecord]:
    """Return the records of a run in which each is right on so many of its first questions."""
    return [
        pack_record(
            replace(
                a_record(
                    {CLAUDE: 0.5, GPT: 0.5},
                    number=number,
                    run=run,
                    correct={CLAUDE: number <= claude, GPT: number <= gpt},
                    whole=CouncilRecord(CLAUDE, number <= claude, 0.01, 3.0),
                ),
                suite_version=SUITE.version,
            )
        )
        for number in range(1, QUESTIONS + 1)
    ]


def comment(
    now: list[PackedRecord], before: list[PackedRecord], failed: tuple[FailedQuestion, ...] = ()
) -> str:
    progress = BakeoffProgress(BAKEOFF, QUESTIONS, failed).ended(Ending(ASKED_AT))
    run = RunMatrix(BAKEOFF, build_matrix(BAKEOFF, (), now, {}))
    board = count_records(now, LeaderboardQuery("sql"), NAMES)
    changes = compute_changes(now, before) if before else None
    run = against_baseline(run, Baseline((*before,))) if before else run
    return pull_request_comment(progress, board, run, changes)


def test_a_comment_says_who_leads_and_what_changed() -> None:
    said = comment(a_run(46, 20, run=1), a_run(46, 22))

    assert said.startswith("# Bake-off of graded by house: no worse than the baseline")
    assert "Claude Sonnet 4.6 leads with 46 of 48 right, GPT-5.1 has 20" in said
    assert "**2 results changed of 48 questions**" in said
    assert [line for line in said.splitlines() if line.startswith("#")] == [said.splitlines()[0]]
    assert "| 21 | Question 21? | GPT-5.1 ✓ → ✗ |" in said
    assert "baseline of 2026-11-02" in said


def test_a_fall_is_in_the_title() -> None:
    said = comment(a_run(46, 4, run=1), a_run(46, 40))

    assert said.startswith("# Bake-off of graded by house: worse than the baseline")


@pytest.mark.parametrize("before", [[], a_run(48, 0)])
def test_a_comment_has_at_most_sixty_lines(before: list[PackedRecord]) -> None:
    said = comment(a_run(0, 48, run=1), before, (FailedQuestion(1, "too slow"),))

    assert len(said.splitlines()) <= MAX_LINES
    assert "1 of 48 questions failed." in said
    assert ("And 28 more." in said) == bool(before)
    assert ("no baseline" in said) != bool(before)


def test_without_a_change_a_comment_says_so() -> None:
    assert "No result changed in 48 questions." in comment(a_run(40, 30, run=1), a_run(40, 30))
