"""Conversations in direct messages: a question refers to the person's rounds just before it."""

from dataclasses import replace
from datetime import datetime, timedelta

from bot.chat import MAX_QUESTION_CHARACTERS, Button, Buttons, Chat, IncomingMessage, Note, Post
from bot.commands.rounds import context_of
from bot.context import AppContext
from council.places import Place
from council.ports import RoundQuery, RoundSummary
from council.rounds import Round

NEW_QUESTION = "new_question"  # the action
CONVERSATION = "conversation"  # the kind of memo: when a place's last conversation was ended
STARTED = "Your next question here starts a new conversation, without the earlier answers."
MAX_PAUSE = timedelta(minutes=30)  # between a round and the next of its conversation
MAX_ROUNDS = 20  # of a place, searched for those of a conversation


async def continue_conversation(app: AppContext, message: IncomingMessage) -> IncomingMessage:
    """Return a direct message with the earlier rounds of its conversation as context.

    One in a thread, or with a context of its own, is returned as it is.
    """
    if not message.is_direct or message.place.thread or message.context:
        return message
    rounds = await load_conversation(app, message.place, message.asker.id)
    room = MAX_QUESTION_CHARACTERS - len(message.text)
    return replace(message, context=context_of(rounds, room))


async def load_conversation(app: AppContext, place: Place, asked_by: str) -> tuple[Round, ...]:
    """Return the rounds that a person's next question in a place follows, oldest first.

    Each began at most half an hour after the end of the one before, or after it was asked if it
    did not finish.
    """
    chats = (place.chat,)
    own = RoundQuery(chats=chats, here=place, only_here=True, asked_by=asked_by, bakeoff="")
    stored = await app.key_values.read(CONVERSATION, _key(place))
    ended, next_asked, found = datetime.fromisoformat(stored) if stored else None, app.now(), []
    for line in await app.store.list_summaries(MAX_ROUNDS, own):
        if line.place.thread:
            continue
        is_over = ended is not None and line.asked_at <= ended
        if is_over or next_asked - _end(line) > MAX_PAUSE:
            break
        found.append(line.id)
        next_asked = line.asked_at
    return tuple([await app.store.load(round_id) for round_id in reversed(found)])


def _end(line: RoundSummary) -> datetime:
    return line.asked_at + timedelta(seconds=line.seconds or 0)


async def start_conversation(app: AppContext, chat: Chat, message: IncomingMessage, _: str) -> None:
    """End the conversation in a place, so that the next question there has no context."""
    await app.key_values.put(CONVERSATION, _key(message.place), app.now().isoformat())
    await chat.send_ephemeral(message, Post((Note(STARTED),), STARTED))


def add_new_question(post: Post, round_: Round) -> Post:
    """Return the answer of a round with a button that starts a new conversation."""
    button = Button(NEW_QUESTION, "New question", round_.id)
    return replace(
        post,
        parts=tuple(
            replace(part, buttons=(*part.buttons, button)) if isinstance(part, Buttons) else part
            for part in post.parts
        ),
    )


def _key(place: Place) -> str:
    return f"{place.chat}/{place.workspace}/{place.channel}"
