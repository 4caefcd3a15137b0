"""Posts of a bake-off of twenty models with long names, for the limits of each chat."""

from dataclasses import replace
from datetime import timedelta

from bot.bakeoffs.render.bakeoffs import (
    Frame,
    extra_run_post,
    failure_post,
    room_result_thread,
    running_post,
)
from bot.bakeoffs.render.leaderboard import whole_board_posts
from bot.bakeoffs.render.leaderboard_text import changes_post
from bot.bakeoffs.render.matrix import question_posts
from bot.chat import Note, Post
from bot.render.formatting import plain_line
from council.bakeoffs.changes import Changes
from council.bakeoffs.matrix import Cell, Matrix, MatrixRow, RunMatrix
from council.bakeoffs.models import BakeoffEstimate, BakeoffProgress, Ending
from tests.bot.bakeoffs.fakes import a_bakeoff, a_suite
from tests.bot.bakeoffs.render.boards.builders import a_board, a_leaderboard, a_move
from tests.builders import ASKED_AT
from tests.council.bakeoffs.builders import a_schedule

MODELS = 20
SCHEDULE_ID = "0123456789abcdef0123456789abcdef"


def without_moments(post: Post) -> Post:
    """Return the post without our own markup of moments, as the terminal shows it."""
    return replace(
        post,
        parts=tuple(
            Note(plain_line(part.text)) if isinstance(part, Note) else part for part in post.parts
        ),
    )


def long_posts(name: str) -> tuple[Post, ...]:
    """Return every post about a run of twelve questions, all its models of this name."""
    schedule = a_schedule(SCHEDULE_ID, name=name, subscribers=())
    frame = Frame(ASKED_AT, schedule)
    suite = a_suite(12, name="long-suite-name-" * 3)
    suite = replace(
        suite, questions=tuple(replace(one, text=f"{name} {one.text}") for one in suite.questions)
    )
    bakeoff = replace(
        a_bakeoff(suite, id_=schedule.bakeoff_id("2026-11-23T09:00")), schedule=SCHEDULE_ID
    )
    members = [row.member for row in a_board(MODELS).rows]
    names = {member: f"{name} {number}" for number, member in enumerate(members)}
    board = replace(a_leaderboard(), board=a_board(MODELS), names=names)
    changes = Changes("b", 2, tuple(a_move(member, -0.2) for member in members))
    board = replace(board, changes=changes)
    progress = BakeoffProgress(bakeoff, over=12)
    ended = progress.ended(Ending(ASKED_AT + timedelta(minutes=2)))
    early = progress.ended(Ending(ASKED_AT, "It was cancelled."))
    cells = {key: Cell(key, at + 1, 0.5, grade=at % 2 == 0) for at, key in enumerate(members)}
    rows = tuple(
        MatrixRow(number, one, bakeoff.round_id(number), cells=cells, winner=members[0])
        for number, one in enumerate(suite.questions, start=1)
    )
    run = RunMatrix(bakeoff, Matrix(tuple(members), rows))
    thread = room_result_thread(ended, frame, board)
    return (
        thread.root,
        *thread.replies,
        room_result_thread(early, frame, board).root,
        failure_post(early, "It was cancelled.", frame),
        running_post(progress, name, frame),
        extra_run_post(schedule, bakeoff, BakeoffEstimate(120_000, (), 180.0)),
        changes_post(changes, names, schedule.name, (), frame.buttons(ended)),
        *whole_board_posts(board),
        *question_posts(run, names, "round"),
    )
