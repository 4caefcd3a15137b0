"""Thread context: what people wrote in a thread becomes the context of a question.

Independent of the chat, which lists the messages (`ThreadSource`). In a thread of our own no
consent is needed: its messages say that replies are read. In any other, who may decide consents
once for a channel and the providers that receive the texts.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Protocol

from bot.access import AccessDeniedError, may_administer
from bot.admission import is_stored
from bot.chat import (
    MAX_QUESTION_CHARACTERS,
    Asker,
    Button,
    Buttons,
    Chat,
    Heading,
    IncomingMessage,
    Note,
    Post,
    event_key,
    send_note,
)
from bot.commands.pseudonyms import Pseudonyms, mention, mentioned_ids
from bot.commands.registry import commands_of, is_question
from bot.commands.rounds import (
    MAX_CONTEXT_CHARACTERS,
    context_of,
    find_round_of_message,
    load_thread_rounds,
    quoted_ids,
)
from bot.context import AppContext
from bot.render.formatting import seat_names
from bot.render.round_status import receiver_names, receivers
from council.errors import CouncilError, RoundNotFoundError
from council.integrity.erasure import indent_lines, quote_round
from council.panel import Panel
from council.people import Person, ThreadReading
from council.places import Place
from council.rounds import Round

# Why nothing of a thread is read.
SHARED, GUEST, UNREADABLE, CONSENT_MISSING = "shared", "guest", "unreadable", "consent"
LIMITED, BUSY = "limited", "busy"  # the chat lets us look rarely, or not now
_LABEL_CHARACTERS = 16  # of "Person 12: " and what separates two messages
_COUNCIL = "Council"
_LOOKUPS_AT_ONCE = 10  # of people
SIGN_SECONDS = 1.0  # of reading before the asker is told of it
READING_NOW = "Reading this thread …"


class UnreadThreadError(CouncilError):
    """A thread could not be read; `unread` says why in a ThreadReading."""

    def __init__(self, message: str, unread: str) -> None:
        super().__init__(message)
        self.unread = unread


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """A message of a thread; mentions in its text are marks (`pseudonyms.mention`).

    `key` is that of the round which it asked, if it asked one. `bot` is the name of another bot;
    the chat shows us no text of a hidden one.
    """

    id: str
    key: str
    author: str
    text: str
    is_ours: bool = False
    bot: str = ""
    is_hidden: bool = False


class ThreadSource(Protocol):
    """A thread in a chat; `our_id` is the bot's own, `part` that of a ThreadReading, once read."""

    our_id: str
    part: str

    async def messages(self) -> Sequence[ThreadMessage]:
        """Return the messages before the question, oldest first; CouncilError if we may not."""
        ...

    async def person(self, id_: str) -> Asker:
        """Return somebody with all names."""
        ...


@asynccontextmanager
async def tell_if_slow(
    chat: Chat, message: IncomingMessage, seconds: float = SIGN_SECONDS
) -> AsyncIterator[None]:
    """Tell the asker that their thread is being read, if that takes longer than some seconds."""

    async def tell() -> None:
        await asyncio.sleep(seconds)
        await chat.send_ephemeral(message, Post((Note(READING_NOW),), READING_NOW))

    telling = asyncio.create_task(tell())
    try:
        yield
    finally:
        telling.cancel()


Item = ThreadMessage | Round  # a round stands where its answer does


async def read_thread(
    app: AppContext,
    message: IncomingMessage,
    source: ThreadSource,
    rounds: Sequence[Round] = (),
    *,
    with_messages: bool = True,
) -> IncomingMessage:
    """Return a question with its thread as context, both with pseudonyms instead of names.

    Mentions in its text are marks. `rounds` are those of a thread of our own, oldest first. Of a
    shared channel, and where the asker or an author is a guest, only the rounds are read; so they
    are without `with_messages`.
    """
    found, unread = await _fetch(message, source) if with_messages else ((), "")
    items = await _arrange(app, message.place, found, rounds, source.our_id)
    room = min(MAX_CONTEXT_CHARACTERS, MAX_QUESTION_CHARACTERS - len(message.text) - 1_000)
    included, left_out = newest_that_fit(items, room)
    try:
        authors, guests = await _authors(source, included)
    except UnreadThreadError as error:
        authors, guests, unread = [], set(), error.unread
    guests.discard(message.asker.id)
    unread = GUEST if guests else unread
    if unread:
        rounds_only = [one for one in items if isinstance(one, Round)]
        kept = [one for one in rounds_only if one.question.asked_by not in guests]
        included, left_out = newest_that_fit(kept, room)[0], 0
    texts = [one.text for one in _messages(included)] + [message.text]
    names = await _pseudonyms(app, message, source, authors if not unread else [], included, texts)
    lines = [_line(one, names)[: _share(included, i, room)] for i, one in enumerate(included)]
    reading = ThreadReading(
        len(_messages(included)),
        left_out,
        0 if unread else sum(one.is_hidden for one in found),
        unread,
        names.people,
        "" if unread else source.part,
    )
    return replace(
        message,
        text=names.replace(message.text),
        context="\n\n".join(lines),
        quotes=quoted_ids([one for one in included if isinstance(one, Round)]),
        reading=reading,
    )


async def replace_mentions(
    app: AppContext,
    message: IncomingMessage,
    source: ThreadSource,
    rounds: Sequence[Round] = (),
    others: Iterable[str] = (),
) -> IncomingMessage:
    """Return a question with pseudonyms instead of the mentions that its text and context mark.

    `rounds` are those that it follows: people keep the numbers that they have there. `others` are
    the ids of people whose names it may have.
    """
    texts = [message.text, message.context, *map(mention, others)]
    if not known_people(rounds) and not any(mentioned_ids(text) for text in texts):
        return message
    names = await _pseudonyms(app, message, source, [], rounds, texts)
    # The context of a question about an answer has the pseudonyms of that round.
    edit_context = names.replace_names if message.quotes else names.replace
    return replace(
        message,
        text=names.replace(message.text),
        context=edit_context(message.context),
        reading=ThreadReading(people=names.people),
    )


# The kind of memo: the ids of the people whose names a form may have, by message it is about.
ABOUT = "people of a message"
_MAX_ABOUT = 1_000  # messages
_MAX_PEOPLE = 50  # of one


async def remember_people(app: AppContext, place: Place, message: str, ids: Iterable[str]) -> None:
    """Store the ids of the people whose names a form about a message may have."""
    kept = [*dict.fromkeys(ids)][:_MAX_PEOPLE]
    await app.key_values.put(ABOUT, f"{place.scope}/{message}", json.dumps(kept))
    await app.key_values.prune(ABOUT, _MAX_ABOUT)


async def recall_people(app: AppContext, place: Place, message: str) -> tuple[str, ...]:
    """Return the ids of the people whose names a form about a message may have."""
    stored = await app.key_values.read(ABOUT, f"{place.scope}/{message}")
    return tuple(json.loads(stored)) if stored else ()


async def _fetch(
    message: IncomingMessage, source: ThreadSource
) -> tuple[Sequence[ThreadMessage], str]:
    """Return the messages of a thread, or none and why; what may not be read is not fetched."""
    if message.is_shared or message.asker.is_guest:
        return (), SHARED if message.is_shared else GUEST
    try:
        return await source.messages(), ""
    except UnreadThreadError as error:
        return (), error.unread
    except CouncilError:
        return (), UNREADABLE


async def _arrange(
    app: AppContext,
    place: Place,
    found: Sequence[ThreadMessage],
    rounds: Sequence[Round],
    our_id: str,
) -> list[Item]:
    """Return people's messages and rounds in order, without our other messages and questions.

    A round that no message shows, such as the first of a thread in Discord, comes first. A
    forgotten one is left out with its question.
    """
    items: list[Item] = []
    for one in found:
        if one.is_ours:
            if round_ := await find_round_of_message(app, place, one.id):
                items.append(round_)
        elif one.text and not (our_id in mentioned_ids(one.text) and await is_stored(app, one.key)):
            items.append(one)
    shown = {one.id for one in items if isinstance(one, Round)}
    first = [one for one in rounds if one.id not in shown]
    return [x for x in (*first, *items) if isinstance(x, ThreadMessage) or not x.forgotten]


def newest_that_fit(items: Sequence[Item], room: int) -> tuple[list[Item], int]:
    """Return the newest items that fit, and the number of people's messages left out.

    The last round and the newest message are always among them, cut if they are too long.
    """
    last = max((i for i, one in enumerate(items) if isinstance(one, Round)), default=-1)
    left = room - min(_size(items[last]), _share(items, last, room)) if last >= 0 else room
    start = len(items)
    while start:
        left -= 0 if start - 1 == last else _size(items[start - 1])
        if left < 0 and start < len(items):
            break
        start -= 1
    left_out = sum(isinstance(one, ThreadMessage) for one in items[:start])
    return [one for i, one in enumerate(items) if i >= start or i == last], left_out


def _share(items: Sequence[Item], index: int, room: int) -> int:
    """Return the room of one item: at least half, and all that the others leave."""
    others = sum(map(_size, items)) - _size(items[index])
    return max(room // 2, room - others)


def _size(item: Item) -> int:
    text = quote_round(item) if isinstance(item, Round) else indent_lines(item.text)
    return len(text) + _LABEL_CHARACTERS


def _messages(items: Iterable[Item]) -> list[ThreadMessage]:
    return [one for one in items if isinstance(one, ThreadMessage)]


async def _authors(source: ThreadSource, items: Sequence[Item]) -> tuple[list[Asker], set[str]]:
    """Return the people who wrote messages, and the ids of guests who wrote any or asked a round.

    Raise UnreadThreadError if the chat does not say now who somebody is.
    """
    at_once = asyncio.Semaphore(_LOOKUPS_AT_ONCE)

    async def look_up(id_: str) -> Asker:
        async with at_once:
            return await source.person(id_)

    wrote = dict.fromkeys(one.author for one in _messages(items) if not one.bot)
    asked = (one.question.asked_by for one in items if isinstance(one, Round))
    ids = dict.fromkeys((*wrote, *filter(None, asked)))
    found = await asyncio.gather(*map(look_up, ids))
    guests = {one.id for one in found if one.is_guest}
    return [one for one in found if one.id in wrote], guests


async def _pseudonyms(
    app: AppContext,
    message: IncomingMessage,
    source: ThreadSource,
    authors: Sequence[Asker],
    included: Sequence[Item],
    texts: Sequence[str],
) -> Pseudonyms:
    rounds = [one for one in included if isinstance(one, Round)]
    mentioned = dict.fromkeys(id_ for text in texts for id_ in mentioned_ids(text))
    known_ids = {source.our_id, message.asker.id, *(one.id for one in authors)}
    others = [await source.person(id_) for id_ in mentioned if id_ not in known_ids]
    written = [quote_round(one) for one in rounds]
    return Pseudonyms(
        [*authors, *others, message.asker],
        [*texts, *written],
        known=known_people(rounds),
        reserved=_model_names(app),
        others={source.our_id: _COUNCIL},
    )


def _model_names(app: AppContext) -> list[str]:
    return [name for panel in app.panels.values() for name in seat_names(panel).values()]


def known_people(rounds: Iterable[Round]) -> list[Person]:
    """Return the people whom rounds of a thread know, by the number of the first that does."""
    people: dict[str, Person] = {}
    for round_ in rounds:
        for one in round_.question.reading.people if round_.question.reading else ():
            people.setdefault(one.id, one)
    return [*people.values()]


def _line(item: Item, names: Pseudonyms) -> str:
    if isinstance(item, Round):
        return names.replace_names(quote_round(item))
    bot = " ".join(item.bot.split())
    author = names.replace(bot) if bot else names.of(item.author)
    return f"{author}: {indent_lines(names.replace(item.text))}"


# --- Consent: once for a channel and the providers that receive its threads.

CONSENT = "thread consent"  # the kind of memo
NEEDS_ADMIN = "Only an admin can allow that for this channel."


@dataclass(frozen=True, slots=True)
class Consent:
    """Who allowed the threads of a channel to be sent to which receivers, and when."""

    receivers: tuple[str, ...]
    by: str
    at: datetime


async def load_consent(app: AppContext, place: Place) -> Consent | None:
    """Return the consent for a place's channel, else None."""
    text = await app.key_values.read(CONSENT, _channel(place))
    stored = json.loads(text) if text else None
    if stored is None:
        return None
    at = datetime.fromisoformat(stored["at"])
    return Consent(tuple(stored["receivers"]), stored["by"], at)


async def has_consent(app: AppContext, place: Place, panel: Panel) -> bool:
    """Return whether threads of a place's channel may be sent to all that a panel asks."""
    consent = await load_consent(app, place)
    return consent is not None and {*receiver_names(panel)} <= {*consent.receivers}


async def recheck_thread(
    app: AppContext, again: IncomingMessage, before: Round, panel: Panel
) -> IncomingMessage:
    """Return a round's question, asked again, with its thread where that may still be sent.

    Else it has only the rounds that it quotes, and its reading says why.
    """
    reading = again.reading
    if reading is None or not reading.messages:
        return again
    unread = await _why_unread(app, again, before.question.place, panel)
    if not unread:
        return again
    rounds: list[Round] = []
    for id_ in before.question.quotes or ():
        with suppress(RoundNotFoundError):
            rounds.append(await app.store.load(id_))
    names = Pseudonyms([], [], known=reading.people, reserved=_model_names(app))
    context = names.replace_names(context_of(rounds))
    return replace(
        again, context=context, reading=ThreadReading(unread=unread, people=reading.people)
    )


async def _why_unread(
    app: AppContext, message: IncomingMessage, read_in: Place, panel: Panel
) -> str:
    """Return why messages of a thread may not be sent again; "" if they may."""
    if message.is_shared or message.asker.is_guest:
        return SHARED if message.is_shared else GUEST
    first = event_key(read_in.chat, read_in.workspace, f"{read_in.channel} {read_in.thread}")
    is_ours = read_in.thread and await load_thread_rounds(app, read_in, first)
    return "" if is_ours or await has_consent(app, read_in, panel) else CONSENT_MISSING


def may_consent(app: AppContext, message: IncomingMessage) -> bool:
    """Return whether the author of a message may decide about the threads of its channel."""
    if message.is_shared or message.asker.is_guest:
        return False
    return may_administer(app.access, message) or message.asker.manages_channel


async def give_consent(app: AppContext, message: IncomingMessage, panel: Panel) -> None:
    """Allow threads of a channel to be sent to all that a panel asks, besides earlier receivers.

    Raise AccessDeniedError for somebody who may not decide that.
    """
    if not may_consent(app, message):
        raise AccessDeniedError(NEEDS_ADMIN)
    async with app.locks.lock(f"{CONSENT} {_channel(message.place)}"):
        before = await load_consent(app, message.place)
        names = dict.fromkeys((*(before.receivers if before else ()), *receiver_names(panel)))
        stored = {"receivers": [*names], "by": message.asker.id, "at": app.now().isoformat()}
        await app.key_values.put(CONSENT, _channel(message.place), json.dumps(stored))
        await app.key_values.pop(REQUESTED, _channel(message.place))


def panel_asked(app: AppContext, message: IncomingMessage) -> Panel:
    """Return the panel that a question goes to: the one it names, else that of its place."""
    parsed = commands_of(app).parse(message.text)
    named = parsed.arguments.get("panel") if is_question(parsed) else None
    return app.panel(named, message.place)


ALLOW_READING = "allow_reading"  # the action
REQUESTED = "thread consent requested"  # the kind of memo: who would receive a channel's threads
_ALLOW = "May I read threads in this channel?"
_CHANGED = "Others would receive the threads now. Ask again, and decide then."


def consent_post(panel: Panel) -> Post:
    """Return the request for a consent, in a chat that can show it to everybody only."""
    note = (
        f"They would go to {receivers(panel)} with the questions asked in them; models read "
        "Person 1, Person 2 instead of names. Anyone who manages this channel can allow it, once. "
        "This question goes without the thread."
    )
    value = f"{receivers_digest(panel)}|{panel.name}"
    button = Button(ALLOW_READING, "Allow it in this channel", value)
    return Post((Heading(_ALLOW), Note(note), Buttons((button,))), _ALLOW)


async def request_consent(
    app: AppContext, chat: Chat, message: IncomingMessage, panel: Panel
) -> None:
    """Post the request for a consent, once for a channel and its receivers until it is given."""
    channel, digest = _channel(message.place), receivers_digest(panel)
    async with app.locks.lock(f"{CONSENT} {channel}"):
        if await app.key_values.read(REQUESTED, channel) == digest:
            return
        await app.key_values.put(REQUESTED, channel, digest)
    await chat.send_ephemeral(message, consent_post(panel))


def receivers_digest(panel: Panel, text: str = "") -> str:
    """Return a digest of who receives a text, and of the text, to check what was shown."""
    return sha256(f"{text}\n{receivers(panel)}".encode()).hexdigest()[:10]


async def allow_reading(app: AppContext, chat: Chat, message: IncomingMessage, value: str) -> None:
    """Store the consent that a button asks for, unless others would receive the threads now."""
    digest, _, name = value.partition("|")
    panel = app.panel(name, message.place)
    if digest != receivers_digest(panel):
        raise CouncilError(_CHANGED)
    await give_consent(app, message, panel)
    line = f"From now on, threads in this channel go with the questions, to {receivers(panel)}."
    await send_note(chat, message, line)


async def withdraw_consent(app: AppContext, message: IncomingMessage) -> None:
    """Withdraw the consent for a channel; raise AccessDeniedError for who may not decide that."""
    if not may_consent(app, message):
        raise AccessDeniedError(NEEDS_ADMIN)
    await app.key_values.pop(CONSENT, _channel(message.place))


def _channel(place: Place) -> str:
    return f"{place.chat}/{place.workspace}/{place.channel}"
