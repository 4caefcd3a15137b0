"""The commands leaderboard and bias: parse their filters, post the report with its thread."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from itertools import chain

from bot.access import AccessDeniedError, check_admitted
from bot.bakeoffs.bias_report import load_bias, mark_biased_judges, parse_bias_query
from bot.bakeoffs.leaderboard import LeaderboardQuery, load_leaderboard, parse_query
from bot.bakeoffs.parts import add_to_leaderboard, bakeoff_settings, bakeoff_stores
from bot.bakeoffs.records import update_records
from bot.bakeoffs.render.bias_charts import render_drawings
from bot.bakeoffs.render.bias_message import bias_post, render_combined_bias_png
from bot.bakeoffs.render.leaderboard import leaderboard_thread, render_leaderboard_png
from bot.chat import (
    Button,
    Buttons,
    Chat,
    File,
    Heading,
    IncomingMessage,
    Note,
    NoThreadError,
    Post,
    PostingForbiddenError,
    Thread,
    send_note,
)
from bot.commands.parameters import Arguments
from bot.commands.reveal import first_held
from bot.context import AppContext
from bot.render.formatting import panel_seat_names
from council.errors import CouncilError
from council.places import LOCAL_CHATS

SHARE = "share_board"  # the button's action, and the kind of its stored query
SHARED = "Shared in this channel."
_MAX_SHAREABLE = 1_000
_SHARE_NOTE = "Sharing posts it here, with its charts."
HOW_TO_SHARE = "Ask for `/council leaderboard` or `bias`, then press **Share to channel** under it."
_TOO_OLD = "This report is too old to share. Ask for it again."


async def how_to_share(app: AppContext, chat: Chat, message: IncomingMessage, _: Arguments) -> None:
    """Send a note on how a report is shared."""
    await send_note(chat, message, HOW_TO_SHARE)


# --- Access and posting, for both reports


def check_own_workspace(message: IncomingMessage, what: str) -> None:
    """Raise AccessDeniedError for a guest or in a shared channel."""
    if message.asker.is_guest or message.is_shared:
        raise AccessDeniedError(
            f"{what} covers the rounds of the whole workspace. Ask for it in a channel that is "
            "not shared with another organisation, as a full member."
        )


async def limit_to_workspace(
    app: AppContext, query: LeaderboardQuery, message: IncomingMessage
) -> LeaderboardQuery:
    """Return a query for the asker's workspace, before any round there whose reveal is held.

    The terminal and the page see all.
    """
    if message.place.chat in LOCAL_CHATS:
        return query
    held, before = await first_held(app, message.place), query.before
    before = min(filter(None, (held, before)), default=None)
    return replace(query, scope=message.place.scope, before=before)


async def show_report(
    app: AppContext, chat: Chat, message: IncomingMessage, options: Arguments, *, name: str
) -> None:
    """Show a report to its asker, with a button to share it; in direct messages, post all of it."""
    is_posted = chat.is_room and message.is_direct
    thread = await _REPORTS[name](app, message, options, is_posted and chat.accepts_files)
    if _is_empty(thread) or not chat.is_room:
        await _send_privately(chat, message, thread)
    elif is_posted:
        try:
            await _post_thread(app, chat, message, thread, name)
        except PostingForbiddenError:
            await _send_privately(chat, message, thread)
    else:
        parts = (Note(_SHARE_NOTE), await _share_button(app, message, name, options))
        await chat.send_ephemeral(message, Post((*thread.root.parts, *parts), thread.root.summary))


async def _share_button(
    app: AppContext, message: IncomingMessage, name: str, options: Arguments
) -> Buttons:
    """Return the button; its value is the key of the stored query, since chats keep it short."""
    query = json.dumps([name, dict(options)])
    await app.key_values.put(SHARE, f"{message.place.scope}/{message.key}", query)
    await app.key_values.prune(SHARE, _MAX_SHAREABLE)
    return Buttons((Button(SHARE, "Share to channel", message.key),))


async def share_report(app: AppContext, chat: Chat, message: IncomingMessage, key: str) -> None:
    """Post a report that was shown privately, with its thread, once; check the presser again."""
    check_admitted(app.access, message)
    query = await app.key_values.read(SHARE, f"{message.place.scope}/{key}")
    if query is None:
        raise CouncilError(_TOO_OLD)
    name, options = json.loads(query)
    thread = await _REPORTS[name](app, message, options, chat.accepts_files)
    await _post_thread(app, chat, replace(message, key=key), thread, name)
    await send_note(chat, message, SHARED)


async def _send_privately(chat: Chat, message: IncomingMessage, thread: Thread) -> None:
    for post in (thread.root, *thread.replies):
        if not _is_file(post):
            await chat.send_ephemeral(message, post)


async def _post_thread(
    app: AppContext, chat: Chat, message: IncomingMessage, thread: Thread, name: str
) -> None:
    """Post a report once for each key of a message; its parts differ from those of a round."""
    replies = [post for post in thread.replies if chat.accepts_files or not _is_file(post)]
    paged = [[post] if _is_file(post) else chat.pages(post) for post in replies]
    (first, *rest) = [thread.root] if _is_file(thread.root) else chat.pages(thread.root)
    root = await app.outbox.send(chat, message.key, name, first, message.place)
    place = replace(root.place, thread=root.place.thread or root.message)
    try:
        for number, post in enumerate(chain(rest, *paged), start=1):
            part = f"{name} {post.summary}" if _is_file(post) else f"{name} {number}"
            await app.outbox.send(chat, message.key, part, post, place)
    except NoThreadError as error:
        await send_note(chat, message, str(error))


def _is_empty(thread: Thread) -> bool:
    """Return whether a report only says that there is nothing to report."""
    return all(isinstance(part, Heading | Note) for part in thread.root.parts)


def _is_file(post: Post) -> bool:
    return any(isinstance(part, File) for part in post.parts)


# --- The reports


async def _leaderboard(
    app: AppContext, message: IncomingMessage, options: Arguments, has_files: bool
) -> Thread:
    """Return a leaderboard; in a chat, of the rounds of its workspace."""
    check_own_workspace(message, "A leaderboard")
    query = await limit_to_workspace(app, parse_query(options, app.now()), message)
    await update_records(app)
    board = await load_leaderboard(
        bakeoff_stores(app), query, panel_seat_names(app.panels.values())
    )
    board = await mark_biased_judges(app, query, board)
    board = await add_to_leaderboard(app, query.wanted, query.weights, board)
    picture = b""
    if has_files and board.board.rows:
        picture = await asyncio.to_thread(render_leaderboard_png, board)
    return leaderboard_thread(board, picture, as_judge=query.as_judge)


async def _bias(
    app: AppContext, message: IncomingMessage, options: Arguments, has_files: bool
) -> Thread:
    """Return the bias of judges; in a chat, over the rounds of its workspace."""
    check_own_workspace(message, "A bias report")
    query = await limit_to_workspace(app, parse_bias_query(options, app.now()), message)
    names = panel_seat_names(app.panels.values())
    bias = await load_bias(app, query, names, bakeoff_settings(app).measure_bias)
    picture = b""
    if has_files and render_drawings(bias):
        picture = await asyncio.to_thread(render_combined_bias_png, bias)
    return Thread(bias_post(bias, picture), ())


# By the part of its first message in the outbox.
_REPORTS: Mapping[
    str, Callable[[AppContext, IncomingMessage, Arguments, bool], Awaitable[Thread]]
] = {"board": _leaderboard, "bias": _bias}
