"""Which rounds are meant, by words like `since:30d` and `category:"window functions"`. Pure."""

import asyncio
import re
from dataclasses import replace
from datetime import datetime
from itertools import chain

from bot.access import AccessDeniedError
from bot.bakeoffs.bias_report import bias_sought, shown_bias
from bot.bakeoffs.leaderboard import LeaderboardQuery, leaderboard, parse_query, weighed
from bot.bakeoffs.records import records_up_to_date
from bot.chat import (
    Chat,
    File,
    IncomingMessage,
    Note,
    NoThreadError,
    Post,
    PostingForbiddenError,
    Thread,
)
from bot.context import AppContext
from bot.render.bias_message import bias_thread, pictures_of
from bot.render.formatting import known_names
from bot.render.leaderboard import board_thread, picture_of
from council.places import HOUSE

# --- Which rounds are meant, by words like `since:30d` and `category:"window functions"`. Pure.

_OPTION = re.compile(r'(as|since|until|panel|category|suite|weights):("[^"]*"|\S+)', re.IGNORECASE)


def grammar_of(word: str, *names: str) -> str:
    """Give the pattern of one word, which may be left out, and of options with these names."""
    option = rf'(?:{"|".join(names)}):(?:"[^"]*"|\S+)'
    return rf"(?:{word})?(?:(?:\A|\s+){option})*"


def narrowed_by(words: str, alone: str) -> dict[str, str]:
    """Give what options say; a word that stands alone is the value of the option `alone`."""
    given = {name.lower(): value.strip('"') for name, value in _OPTION.findall(words)}
    left = _OPTION.sub("", words).split()
    return given | ({alone: left[0]} if left else {})


# --- What counts a whole workspace's rounds: for whom, and posted with its thread or told.


def check_is_at_home(said: IncomingMessage, what: str) -> None:
    """Raise AccessDeniedError for a guest, or where strangers read along."""
    if said.asker.is_guest or said.is_shared:
        raise AccessDeniedError(
            f"{what} counts the rounds of the whole workspace: ask for it in a channel of your "
            "own, not in one that is shared with others or as a guest."
        )


def within_reach(sought: LeaderboardQuery, said: IncomingMessage) -> LeaderboardQuery:
    """Give what is sought among the rounds of the speaker's own workspace; of all in the house."""
    return sought if said.place.chat in HOUSE else replace(sought, scope=said.place.scope)


async def show_report(
    app: AppContext, chat: Chat, said: IncomingMessage, thread: Thread, root: str
) -> None:
    """Post a report with its thread where people talk, else tell it; `root` keys its messages."""
    if chat.is_room and thread.replies:
        await _posted(app, chat, said, thread, root)
    else:
        await _told(chat, said, thread)


async def _told(chat: Chat, said: IncomingMessage, thread: Thread) -> None:
    """Tell all but the files to the one who asked."""
    for post in (thread.root, *thread.replies):
        if not _is_file(post):
            await chat.send_ephemeral(said, post)


async def _posted(
    app: AppContext, chat: Chat, said: IncomingMessage, thread: Thread, key: str
) -> None:
    """Post the report, once for each event; where nothing may be posted, tell it."""
    replies = [post for post in thread.replies if chat.keeps_files or not _is_file(post)]
    paged = [[post] if _is_file(post) else chat.pages(post) for post in replies]
    (first, *rest) = chat.pages(thread.root)
    try:
        root = await app.outbox.send(chat, said.key, key, first, said.place)
        place = replace(root.place, thread=root.place.thread or root.message)
        for number, post in enumerate(chain(rest, *paged), start=1):
            part = f"{key} {post.summary}" if _is_file(post) else f"{key} {number}"
            await app.outbox.send(chat, said.key, part, post, place)
    except NoThreadError as error:
        await chat.send_ephemeral(said, Post((Note(str(error)),), str(error)))
    except PostingForbiddenError:
        await _told(chat, said, thread)


def _is_file(post: Post) -> bool:
    return any(isinstance(part, File) for part in post.parts)


# --- The command that shows a leaderboard: posted with its thread where people talk, else told.

ROOT = "board"  # no part that holds a round's answer

GRAMMAR = grammar_of(
    r"[\w.+-]+(?:@[0-9a-f]+)?", "as", "since", "until", "panel", "category", "suite", "weights"
)


async def show_leaderboard(app: AppContext, chat: Chat, said: IncomingMessage, words: str) -> None:
    """Show the leaderboard that the words mean, of the workspace's own rounds in a chat."""
    check_is_at_home(said, "A leaderboard")
    sought = within_reach(sought_of(words, app.now()), said)
    await records_up_to_date(app)
    board = await leaderboard(app.bakeoff_stores, sought, known_names(app.panels.values()))
    board = await weighed(app, sought, board)
    picture = b""
    if chat.keeps_files and board.board.rows:
        picture = await asyncio.to_thread(picture_of, board)
    thread = board_thread(board, picture, as_judge=sought.as_judge)
    await show_report(app, chat, said, thread, ROOT)


def sought_of(words: str, now: datetime) -> LeaderboardQuery:
    """Read `[SUITE[@VERSION]] [as:judge] [since:30d] [until:…] [panel:P] [category:C] [weights:W]`.

    Raises SoughtError for a window, a view or weights that are none.
    """
    return parse_query(narrowed_by(words, "suite"), now)


# --- The command that shows how biased the judges are: posted with its thread, or told.

BIAS_ROOT = "bias"  # no part that holds a round's answer

BIAS_GRAMMAR = grammar_of(r"[\w.+-]+", "since", "until", "panel", "category", "suite")


async def show_bias(app: AppContext, chat: Chat, said: IncomingMessage, words: str) -> None:
    """Show the bias of judges over the rounds that the words mean, the workspace's own in a chat.

    Words are `[PANEL] [suite:S] [since:30d] [until:…] [category:C]`.
    """
    check_is_at_home(said, "A bias report")
    sought = within_reach(bias_sought(narrowed_by(words, "panel"), app.now()), said)
    names = known_names(app.panels.values())
    bias = await shown_bias(app, sought, names, app.measure_bias)
    pictures: tuple[bytes, ...] = ()
    if chat.keeps_files and bias.report.judges:
        pictures = await asyncio.to_thread(pictures_of, bias)
    await show_report(app, chat, said, bias_thread(bias, pictures), BIAS_ROOT)
