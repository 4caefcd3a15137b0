"""The command that shows a leaderboard: posted with its thread where people talk, else told."""

import asyncio
import re
from dataclasses import replace
from datetime import datetime
from itertools import chain

from bot.access import NotAdmittedError
from bot.bakeoffs.boards import leaderboard
from bot.bakeoffs.keeping import records_up_to_date
from bot.bakeoffs.sought import Sought, sought_by
from bot.bakeoffs.weighing import weighed
from bot.chat import Chat, File, Note, NoThreadError, Post, Said, Thread, UnwelcomeError
from bot.commands.desk import Desk
from bot.render.boards import board_thread, picture_of
from bot.render.names import known_names
from council.places import HOUSE

ROOT = "board"  # no part that holds a round's answer

_OPTION = re.compile(r'(as|since|until|panel|category|suite|weights):("[^"]*"|\S+)', re.IGNORECASE)
_WORD = r"[\w.+-]+(?:@[0-9a-f]+)?"
_ANY = r'(?:as|since|until|panel|category|suite|weights):(?:"[^"]*"|\S+)'
GRAMMAR = rf"(?:{_WORD})?(?:(?:\A|\s+){_ANY})*"


async def show_leaderboard(desk: Desk, chat: Chat, said: Said, words: str) -> None:
    """Show the leaderboard that the words mean, of the workspace's own rounds in a chat."""
    if said.asker.is_guest or said.is_shared:
        raise NotAdmittedError(
            "A leaderboard counts the rounds of the whole workspace: ask for it in a channel of "
            "your own, not in one that is shared with others or as a guest."
        )
    sought = sought_of(words, desk.now())
    if said.place.chat not in HOUSE:
        sought = replace(sought, scope=said.place.scope)
    await records_up_to_date(desk)
    board = await leaderboard(desk.bench, sought, known_names(desk.panels.values()))
    board = await weighed(desk, sought, board)
    picture = b""
    if chat.keeps_files and board.board.rows:
        picture = await asyncio.to_thread(picture_of, board)
    thread = board_thread(board, picture, as_judge=sought.as_judge)
    if chat.is_room and thread.replies:
        await _posted(desk, chat, said, thread)
    else:
        await _told(chat, said, thread)


def sought_of(words: str, now: datetime) -> Sought:
    """Read `[SUITE[@VERSION]] [as:judge] [since:30d] [until:…] [panel:P] [category:C] [weights:W]`.

    Raises SoughtError for a window, a view or weights that are none.
    """
    given = {name.lower(): value.strip('"') for name, value in _OPTION.findall(words)}
    left = _OPTION.sub("", words).split()
    return sought_by(given | ({"suite": left[0]} if left else {}), now)


async def _told(chat: Chat, said: Said, thread: Thread) -> None:
    """Tell all but the files to the one who asked."""
    for post in (thread.root, *thread.replies):
        if not _is_file(post):
            await chat.whisper(said, post)


async def _posted(desk: Desk, chat: Chat, said: Said, thread: Thread) -> None:
    """Post the leaderboard, once for each event; where nothing may be posted, tell it."""
    replies = [post for post in thread.replies if chat.keeps_files or not _is_file(post)]
    paged = [[post] if _is_file(post) else chat.pages(post) for post in replies]
    (first, *rest) = chat.pages(thread.root)
    try:
        root = await desk.outbox.send(chat, said.key, ROOT, first, said.place)
        place = replace(root.place, thread=root.place.thread or root.message)
        for number, post in enumerate(chain(rest, *paged), start=1):
            part = f"{ROOT} {post.summary}" if _is_file(post) else f"{ROOT} {number}"
            await desk.outbox.send(chat, said.key, part, post, place)
    except NoThreadError as error:
        await chat.whisper(said, Post((Note(str(error)),), str(error)))
    except UnwelcomeError:
        await _told(chat, said, thread)


def _is_file(post: Post) -> bool:
    return any(isinstance(part, File) for part in post.parts)
