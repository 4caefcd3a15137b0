"""The post of a scheduled bake-off in the pictures of both chats; its numbers are scripted."""

from dataclasses import replace
from datetime import timedelta

from bot.bakeoffs.render.bakeoffs import Frame, room_result_thread
from bot.chat import Post
from council.bakeoffs.intervals import wilson_interval
from council.bakeoffs.models import BakeoffProgress, Ending
from tests.bot.bakeoffs.fakes import a_bakeoff, a_suite
from tests.bot.bakeoffs.render.boards.builders import a_board, a_leaderboard
from tests.builders import ASKED_AT
from tests.council.bakeoffs.builders import a_schedule

RIGHT, GRADED = (19, 17, 16, 11), 20


def bakeoff_post() -> Post:
    """Return the post of a run of twenty graded questions."""
    board = a_board(len(RIGHT))
    rows = tuple(
        replace(
            row, accuracy=hits / GRADED, accuracy_ci=wilson_interval(hits, GRADED), graded=GRADED
        )
        for row, hits in zip(board.rows, RIGHT, strict=True)
    )
    board = replace(board, rows=rows)
    schedule = a_schedule(name="Nightly SQL")
    bakeoff = replace(a_bakeoff(a_suite(GRADED), id_="sched:s1@2026-11-23T09:00"), schedule="s1")
    ending = Ending(ASKED_AT + timedelta(minutes=4))
    progress = BakeoffProgress(bakeoff, over=GRADED, spent_micro=184_000).ended(ending)
    return room_result_thread(
        progress, Frame(ASKED_AT, schedule), replace(a_leaderboard(), board=board)
    ).root
