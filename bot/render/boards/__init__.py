"""Leaderboards as people see them: in chats, on the page, in the terminal, as files."""

from bot.render.boards.figure import figure_of
from bot.render.boards.leaderboard import Leaderboard
from bot.render.boards.news import delta_post
from bot.render.boards.thread import board_thread, picture_file, summary_of

__all__ = [
    "Leaderboard",
    "board_thread",
    "delta_post",
    "figure_of",
    "picture_file",
    "picture_of",
    "summary_of",
]


def picture_of(shown: Leaderboard) -> bytes:
    """Give a leaderboard's figure as a PNG; it takes a moment, so do it in a thread."""
    from bot.render.drawing.png import png_of

    return png_of(figure_of(shown.chart))
