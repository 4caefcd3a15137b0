"""Retraction of forgotten rounds: delete or blank the messages that were posted of them."""

import asyncio
from dataclasses import replace

import structlog

from bot.chat import Chat, MessageGoneError, SentMessage
from bot.context import AppContext
from bot.outbox import ROOTS, PostedPart
from bot.render.round_report.thread import round_post, round_title
from council.errors import CouncilError
from council.rounds import Round

RETRACT_SECONDS = 60.0


async def retract_regularly(app: AppContext) -> None:
    """Retract what is left of forgotten rounds, now and every minute, until cancelled."""
    while True:
        try:
            async with app.leader_lock("retracting") as is_leader:
                if is_leader:
                    await retract_forgotten(app)
        except CouncilError as error:
            structlog.get_logger().warning("not_retracted", why=str(error))
        await asyncio.sleep(RETRACT_SECONDS)


async def retract_forgotten(app: AppContext, round_id: str = "") -> None:
    """Delete the replies of forgotten rounds, blank their first messages, rename their threads.

    What cannot be reached now stays in the outbox for the next time. With an id, only that round's.
    """
    for posted in await app.outbox.list_forgotten():
        chat = app.find_chat(posted.sent.place)
        if chat is None or round_id not in {"", posted.round_id}:
            continue
        try:
            await _retract(app, chat, posted)
        except CouncilError as error:
            log = structlog.get_logger()
            log.warning("message_not_retracted", round_id=posted.round_id, why=str(error))


async def _retract(app: AppContext, chat: Chat, posted: PostedPart) -> None:
    round_ = await app.store.load(posted.round_id)
    thread, is_root = round_.question.place.thread, posted.part in ROOTS
    if not is_root and thread is None:
        root = await app.outbox.root(posted.round_id, posted.sent.place)
        thread = root.message if root else None
    sent: SentMessage | None = posted.sent
    place = replace(posted.sent.place, thread=thread)
    if not posted.sent.message:  # it was claimed, and may have been sent
        sent = await chat.find(place, posted.key)
    if sent and is_root:
        await _blank(chat, replace(sent, place=place), round_)
    elif sent:
        await chat.delete(replace(sent, place=place))
    await app.outbox.remove(posted)


async def _blank(chat: Chat, root: SentMessage, round_: Round) -> None:
    """Replace a round's answer by a line that says that it was forgotten."""
    try:
        await chat.edit(root, round_post(round_))
    except MessageGoneError:
        await chat.delete(root)
    if root.place.thread is None:
        await chat.rename_thread(root, round_title(round_))
