"""The commands leaderboard and bias: parse their filters, post the report with its thread."""

import asyncio
from dataclasses import replace
from itertools import chain

from bot.access import AccessDeniedError
from bot.bakeoffs.bias_report import load_bias, parse_bias_query
from bot.bakeoffs.leaderboard import LeaderboardQuery, load_leaderboard, parse_query
from bot.bakeoffs.records import update_records
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
from bot.commands.parameters import Arguments
from bot.context import AppContext
from bot.render.bias_message import bias_thread, render_bias_pngs
from bot.render.formatting import panel_seat_names
from bot.render.leaderboard import leaderboard_thread, render_leaderboard_png
from council.places import LOCAL_CHATS

# --- Access and posting, for both reports


def check_own_workspace(message: IncomingMessage, what: str) -> None:
    """Raise AccessDeniedError for a guest or in a shared channel."""
    if message.asker.is_guest or message.is_shared:
        raise AccessDeniedError(
            f"{what} counts the rounds of the whole workspace: ask for it in a channel of your "
            "own, not in one that is shared with others or as a guest."
        )


def with_scope(query: LeaderboardQuery, message: IncomingMessage) -> LeaderboardQuery:
    """Limit a query to the asker's workspace; the terminal and the page see all."""
    return query if message.place.chat in LOCAL_CHATS else replace(query, scope=message.place.scope)


async def show_report(
    app: AppContext, chat: Chat, message: IncomingMessage, thread: Thread, root: str
) -> None:
    """Post a report and its thread in a room, else reply privately.

    `root` keys its messages; it differs from the parts of a round's answer.
    """
    if chat.is_room and thread.replies:
        await _post_thread(app, chat, message, thread, root)
    else:
        await _send_privately(chat, message, thread)


async def _send_privately(chat: Chat, message: IncomingMessage, thread: Thread) -> None:
    for post in (thread.root, *thread.replies):
        if not _is_file(post):
            await chat.send_ephemeral(message, post)


async def _post_thread(
    app: AppContext, chat: Chat, message: IncomingMessage, thread: Thread, key: str
) -> None:
    """Post the report once for each event; if posting is forbidden, reply privately."""
    replies = [post for post in thread.replies if chat.accepts_files or not _is_file(post)]
    paged = [[post] if _is_file(post) else chat.pages(post) for post in replies]
    (first, *rest) = chat.pages(thread.root)
    try:
        root = await app.outbox.send(chat, message.key, key, first, message.place)
        place = replace(root.place, thread=root.place.thread or root.message)
        for number, post in enumerate(chain(rest, *paged), start=1):
            part = f"{key} {post.summary}" if _is_file(post) else f"{key} {number}"
            await app.outbox.send(chat, message.key, part, post, place)
    except NoThreadError as error:
        await chat.send_ephemeral(message, Post((Note(str(error)),), str(error)))
    except PostingForbiddenError:
        await _send_privately(chat, message, thread)


def _is_file(post: Post) -> bool:
    return any(isinstance(part, File) for part in post.parts)


# --- The commands


async def show_leaderboard(
    app: AppContext, chat: Chat, message: IncomingMessage, arguments: Arguments
) -> None:
    """Show a leaderboard; in a chat, of the rounds of its workspace."""
    check_own_workspace(message, "A leaderboard")
    query = with_scope(parse_query(arguments, app.now()), message)
    await update_records(app)
    board = await load_leaderboard(app.bakeoff_stores, query, panel_seat_names(app.panels.values()))
    board = await app.research.add_to_leaderboard(app, query.wanted, query.weights, board)
    picture = b""
    if chat.accepts_files and board.board.rows:
        picture = await asyncio.to_thread(render_leaderboard_png, board)
    thread = leaderboard_thread(board, picture, as_judge=query.as_judge)
    await show_report(app, chat, message, thread, "board")


async def show_bias(
    app: AppContext, chat: Chat, message: IncomingMessage, arguments: Arguments
) -> None:
    """Show the bias of judges; in a chat, over the rounds of its workspace."""
    check_own_workspace(message, "A bias report")
    query = with_scope(parse_bias_query(arguments, app.now()), message)
    names = panel_seat_names(app.panels.values())
    bias = await load_bias(app, query, names, app.measure_bias)
    pictures: tuple[bytes, ...] = ()
    if chat.accepts_files and bias.report.judges:
        pictures = await asyncio.to_thread(render_bias_pngs, bias)
    await show_report(app, chat, message, bias_thread(bias, pictures), "bias")
