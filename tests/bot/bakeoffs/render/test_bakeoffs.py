"""Posts of a bake-off in a room: name, outcome in one sentence, next run, at most five buttons."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.bakeoffs.render.bakeoffs import Frame, failure_post, room_result_thread
from bot.bakeoffs.render.headline import headline
from bot.bakeoffs.render.leaderboard import whole_board_posts
from bot.bakeoffs.render.leaderboard_text import changes_post, few_change_lines
from bot.chat import Buttons, Caution, Heading, Line, Note, Post, Table
from council.bakeoffs.changes import Changes
from council.bakeoffs.models import BakeoffProgress, Ending
from tests.bot.bakeoffs.fakes import a_bakeoff, a_suite
from tests.bot.bakeoffs.render.boards.builders import (
    CLAUDE,
    KEYS,
    NAMES,
    a_move,
    graded,
)
from tests.bot.rounds import words_of
from tests.builders import ASKED_AT
from tests.council.bakeoffs.builders import a_schedule

SCHEDULED = replace(a_bakeoff(a_suite(12), id_="sched:s1@2026-11-23T09:00"), schedule="s1")
WEEKLY = Frame(ASKED_AT, a_schedule(name="Nightly SQL"))
RAW = re.compile(r"sched:|bo:|τ|κ|[0-9a-f]{8}")


def ended(failure: str | None = None, over: int = 12) -> BakeoffProgress:
    ending = Ending(ASKED_AT + timedelta(minutes=2), failure)
    return BakeoffProgress(SCHEDULED, over=over).ended(ending)


def labels(post: Post) -> Sequence[str]:
    return [b.label for part in post.parts if isinstance(part, Buttons) for b in part.buttons]


def test_a_result_has_the_name_the_outcome_the_next_run_and_five_buttons() -> None:
    root = room_result_thread(ended(), WEEKLY, graded(9, 7, 3)).root

    assert root.parts[0] == Heading("Nightly SQL: results")
    assert root.parts[1] == Line(headline(graded(9, 7, 3)))
    assert root.summary == f"Nightly SQL: results · {headline(graded(9, 7, 3))}"
    assert "fell from" not in words_of(root)  # that is news, which follows
    assert "sql by house · 12 of 12 questions · 2 min" in words_of(root)
    assert "Next run: " in words_of(root)
    assert "\uffff" in next(
        part.text for part in root.parts if isinstance(part, Note) and "Next run" in part.text
    )
    assert labels(root) == ["Results", "Questions", "Subscribe", "Run now", "Pause"]


def test_without_a_schedule_suite_and_panel_are_the_name() -> None:
    one = replace(ended(), bakeoff=replace(ended().bakeoff, schedule=""))

    root = room_result_thread(one, Frame(ASKED_AT), graded(9, 7)).root

    assert root.parts[0] == Heading("Bake-off of sql by house")
    assert "fell from" in words_of(root)
    assert "Next run" not in words_of(root)
    assert labels(root) == ["Results", "Questions", "Try another model"]


def test_a_paused_schedule_has_no_next_run_and_can_be_resumed() -> None:
    paused = Frame(ASKED_AT, a_schedule(paused=True))

    root = room_result_thread(ended(), paused, graded(9, 7)).root

    assert "Next run" not in words_of(root)
    assert "weekly is paused." in words_of(root)
    assert labels(root)[-1] == "Resume schedule"


def test_what_ended_early_says_so_first_and_can_be_resumed() -> None:
    early = ended("It was cancelled.", over=3)

    for post in (
        room_result_thread(early, WEEKLY, graded(9, 7)).root,
        failure_post(early, "It was cancelled.", WEEKLY),
    ):
        assert post.parts[0] == Heading("Nightly SQL: ended early")
        assert isinstance(post.parts[1], Caution)
        assert post.parts[1].text.startswith("It was cancelled. 3 of 12 questions are saved.")
        assert labels(post) == ["Resume", "Results", "Questions", "Subscribe", "Pause"]
    nothing = failure_post(ended("It was cancelled.", over=0), "It was cancelled.", WEEKLY)
    assert labels(nothing) == ["Resume", "Subscribe", "Pause"]


def test_a_result_without_a_board_counts_what_is_finished() -> None:
    assert "12 of 12 questions are finished." in words_of(
        room_result_thread(ended(), WEEKLY, None).root
    )


@pytest.mark.parametrize("failure", [None, "It was cancelled."])
def test_no_raw_id_checksum_or_greek_letter_is_posted(failure: str | None) -> None:
    board = graded(*range(9, 4, -1))
    thread = room_result_thread(ended(failure), WEEKLY, board)
    news = changes_post(
        Changes("b", 2, (a_move(CLAUDE, -0.2),)), NAMES, "Nightly SQL", (), WEEKLY.buttons(ended())
    )

    posts = (thread.root, *thread.replies, failure_post(ended("It broke."), "It broke.", WEEKLY))
    for post in (*posts, news, *whole_board_posts(board)):
        assert RAW.search(words_of(post) + post.summary) is None, words_of(post)


def test_the_whole_board_has_every_model() -> None:
    first, *_ = whole_board_posts(graded(*[7] * 20))

    (table,) = [part for part in first.parts if isinstance(part, Table)]
    assert len(table.rows) == 20


def test_of_many_changes_the_first_five_are_posted() -> None:
    changes = Changes("b", 2, tuple(a_move(key, -0.2) for key in [*KEYS, "a", "b", "c"]))

    lines = [*few_change_lines(changes, NAMES)]

    assert len(lines) == 6
    assert lines[-1] == "And 3 more changes."
