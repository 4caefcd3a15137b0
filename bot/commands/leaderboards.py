"""The command that shows a leaderboard: posted with its thread where people talk, else told."""

import asyncio
from datetime import datetime

from bot.bakeoffs.boards import leaderboard
from bot.bakeoffs.keeping import records_up_to_date
from bot.bakeoffs.sought import Sought, sought_by
from bot.bakeoffs.weighing import weighed
from bot.chat import Chat, Said
from bot.commands.desk import Desk
from bot.commands.narrowing import grammar_of, narrowed_by
from bot.commands.reports import check_is_at_home, show_report, within_reach
from bot.render.formatting import known_names
from bot.render.leaderboard import board_thread, picture_of

ROOT = "board"  # no part that holds a round's answer

GRAMMAR = grammar_of(
    r"[\w.+-]+(?:@[0-9a-f]+)?", "as", "since", "until", "panel", "category", "suite", "weights"
)


async def show_leaderboard(desk: Desk, chat: Chat, said: Said, words: str) -> None:
    """Show the leaderboard that the words mean, of the workspace's own rounds in a chat."""
    check_is_at_home(said, "A leaderboard")
    sought = within_reach(sought_of(words, desk.now()), said)
    await records_up_to_date(desk)
    board = await leaderboard(desk.bench, sought, known_names(desk.panels.values()))
    board = await weighed(desk, sought, board)
    picture = b""
    if chat.keeps_files and board.board.rows:
        picture = await asyncio.to_thread(picture_of, board)
    thread = board_thread(board, picture, as_judge=sought.as_judge)
    await show_report(desk, chat, said, thread, ROOT)


def sought_of(words: str, now: datetime) -> Sought:
    """Read `[SUITE[@VERSION]] [as:judge] [since:30d] [until:…] [panel:P] [category:C] [weights:W]`.

    Raises SoughtError for a window, a view or weights that are none.
    """
    return sought_by(narrowed_by(words, "suite"), now)
