"""Conversations: a question refers to the rounds before it, in direct messages and on the page."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.chat import (
    MAX_QUESTION_CHARACTERS,
    Button,
    Buttons,
    Chat,
    IncomingMessage,
    Post,
    send_note,
)
from bot.commands.rounds import context_of, load_readable_round, quoted_ids
from bot.context import AppContext
from council.errors import ForgottenError, RoundNotFoundError
from council.files import QuestionFile
from council.places import Place
from council.ports import RoundQuery, RoundSummary
from council.rounds import Round

NEW_QUESTION = "new_question"  # the action
CONVERSATION = "conversation"  # the kind of memo: when a place's last conversation was ended
STARTED = "Your next question here starts a new conversation, without the earlier answers."
MAX_PAUSE = timedelta(minutes=30)  # between a round and the next of its conversation
MAX_ROUNDS = 20  # of a place or a conversation, searched
FORGOTTEN_TURN = "That question was forgotten, so nothing can follow it. Ask a new question."


async def continue_conversation(app: AppContext, message: IncomingMessage) -> IncomingMessage:
    """Return a direct message with the earlier rounds of its conversation as context.

    One in a thread, or with a context of its own, is returned as it is.
    """
    if not message.is_direct or message.place.thread or message.context:
        return message
    rounds = await load_conversation(app, message.place, message.asker.id)
    room = MAX_QUESTION_CHARACTERS - len(message.text)
    return replace(
        message,
        context=context_of(rounds, room),
        attached=latest_files(rounds),
        quotes=quoted_ids(rounds),
    )


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


async def follow_up(app: AppContext, message: IncomingMessage, round_id: str) -> IncomingMessage:
    """Return a message of the page or the terminal as a follow-up to a round, with its context.

    What follows a private round is private. Raise RoundNotFoundError if its author may not read the
    round, ForgottenError if its texts are gone.
    """
    round_ = await load_readable_round(app, message, round_id)
    if round_.forgotten:
        raise ForgottenError(FORGOTTEN_TURN)
    turns = (*await load_turns(app, round_, message), round_)
    private = message.place.private or round_.question.place.private
    return replace(
        message,
        place=replace(message.place, thread=round_id, private=private),
        context=context_of(turns, MAX_QUESTION_CHARACTERS - len(message.text)),
        attached=latest_files(turns),
        quotes=quoted_ids(turns),
    )


def latest_files(rounds: Sequence[Round]) -> tuple[QuestionFile, ...]:
    """Return the files of the last round that has any: a follow-up is about them too."""
    files = (one.question.kept_files for one in reversed(rounds))
    return next(filter(None, files), ())


async def load_turns(app: AppContext, round_: Round, message: IncomingMessage) -> tuple[Round, ...]:
    """Return the rounds before one on the page or the terminal, oldest first.

    There the `thread` of a place is the round that a question follows. A round that is gone, or
    that the author of the message may not read, ends the conversation.
    """
    turns: list[Round] = []
    while (before := round_.question.place.thread) and len(turns) < MAX_ROUNDS:
        try:
            round_ = await load_readable_round(app, message, before)
        except RoundNotFoundError:
            break
        turns.insert(0, round_)
    return tuple(turns)


def _end(line: RoundSummary) -> datetime:
    return line.asked_at + timedelta(seconds=line.seconds or 0)


async def start_conversation(app: AppContext, chat: Chat, message: IncomingMessage, _: str) -> None:
    """End the conversation in a place, so that the next question there has no context."""
    await app.key_values.put(CONVERSATION, _key(message.place), app.now().isoformat())
    await send_note(chat, message, STARTED)


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
