"""Discord threads, forum posts and reply chains as context of a question.

Discord shows a bot only the messages that mention it, and its own, unless the application has the
message content intent; the texts of all others are empty.
"""

import re
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

import discord

from bot.chat import Asker, Chat, IncomingMessage, event_key
from bot.commands.dispatch import run_command
from bot.commands.pseudonyms import mention, without_marks
from bot.commands.registry import commands_of
from bot.commands.rounds import find_round_of_message, load_thread_rounds
from bot.commands.thread_context import (
    CONSENT_MISSING,
    ThreadMessage,
    has_consent,
    known_people,
    panel_asked,
    read_thread,
    remember_people,
    replace_mentions,
    request_consent,
)
from bot.context import AppContext
from bot.discord.errors import translate_errors
from bot.discord.events import aliases_of
from bot.discord.shards import CHAT
from council.errors import CouncilError
from council.people import ThreadReading
from council.places import Place
from council.rounds import Round

User = discord.User | discord.Member

MAX_MESSAGES = 1_000  # of a thread that are read
MAX_CHAIN = 20  # replies up a chain
_USER = re.compile(r"<@!?(\d+)>")
_PLACE = re.compile(r"<(@&|#)(\d+)>")
_WRITTEN = {
    discord.MessageType.default,
    discord.MessageType.reply,
    discord.MessageType.thread_starter_message,
}


class DiscordThread:
    """What was said before a message: in its thread, or up the chain of replies."""

    part = ""

    def __init__(self, bot: discord.ClientUser, message: discord.Message) -> None:
        self.our_id = str(bot.id)
        self._message = message
        self._listed: list[discord.Message] | None = None  # oldest first
        self._people = {one.id: one for one in (message.author, *message.mentions)}

    async def messages(self) -> Sequence[ThreadMessage]:
        """Return the messages before the question, oldest first."""
        if self._listed is None:
            with translate_errors():
                found = [one async for one in self._fetch()]
            self._listed = [_starter(one) for one in reversed(found) if one.type in _WRITTEN]
            for one in self._listed:
                self._people |= {user.id: user for user in (one.author, *one.mentions)}
        return [self._parse(one) for one in self._listed]

    async def _fetch(self) -> AsyncIterator[discord.Message]:
        """Yield the messages before the question, newest first."""
        channel, message = self._message.channel, self._message
        if isinstance(channel, discord.Thread):
            async for one in channel.history(limit=MAX_MESSAGES, before=message):
                yield one
            return
        for _ in range(MAX_CHAIN):
            above = message.reference.message_id if message.reference else None
            if above is None:
                return
            try:
                message = await channel.fetch_message(above)
            except discord.NotFound:  # it was deleted
                return
            yield message

    def _parse(self, one: discord.Message) -> ThreadMessage:
        author = one.author
        is_ours = str(author.id) == self.our_id
        files = (f"[file {file.filename}]" for file in one.attachments)
        is_empty = not (one.content or one.attachments or one.embeds or one.stickers)
        return ThreadMessage(
            str(one.id),
            event_key(CHAT, str(one.id)),
            str(author.id),
            " ".join(filter(None, (mark_mentions(one), *files))),
            is_ours=is_ours,
            bot=author.display_name if author.bot and not is_ours else "",
            is_hidden=is_empty and not is_ours,
        )

    async def person(self, id_: str) -> Asker:
        """Return a user with the names that Discord shows of them."""
        user = self._people.get(int(id_))
        return parse_person(user) if user else Asker(id_, id_)


def _starter(one: discord.Message) -> discord.Message:
    """Return the message that a thread was started from, for the one that stands for it."""
    original = one.reference.resolved if one.reference else None
    is_starter = one.type is discord.MessageType.thread_starter_message
    return original if is_starter and isinstance(original, discord.Message) else one


class MentionedPeople:
    """No thread: the people whom a question outside of threads mentions."""

    part = ""

    def __init__(
        self, client: discord.Client, guild: discord.Guild | None, known: Iterable[User] = ()
    ) -> None:
        self.our_id = str(client.user.id if client.user else client.application_id)
        self._client = client
        self._guild = guild
        self._known = {user.id: user for user in known}

    async def messages(self) -> Sequence[ThreadMessage]:
        """Return nothing."""
        return ()

    async def person(self, id_: str) -> Asker:
        """Return a user with the names that Discord shows of them; the id if it shows none."""
        number = int(id_)
        user: User | None = self._known.get(number)
        with suppress(CouncilError), translate_errors():
            if user is None and self._guild:
                user = await self._guild.fetch_member(number)
            user = user or await self._client.fetch_user(number)
        return parse_person(user) if user else Asker(id_, id_)


async def without_names(
    app: AppContext,
    message: IncomingMessage,
    people: MentionedPeople,
    rounds: Sequence[Round] = (),
    others: Iterable[str] = (),
) -> IncomingMessage:
    """Return a question without the names of those whom it mentions.

    Its text and context are as Discord has them. `others` are the ids of people whose names it may
    have.
    """
    text, context = (_mark_people(one) for one in (message.text, message.context))
    marked = replace(message, text=text, context=context)
    return await replace_mentions(app, marked, people, rounds, others)


async def remember_people_of(
    app: AppContext, place: Place, message: discord.Message, bot: discord.ClientUser | None
) -> None:
    """Store whose names a form about a message may have: of its author, and who it mentions."""
    people = [user for user in (message.author, *message.mentions) if not user.bot]
    ids = [str(user.id) for user in people]
    if message.author == bot and (
        round_ := await find_round_of_message(app, place, str(message.id))
    ):
        ids += [one.id for one in known_people([round_])]
    await remember_people(app, place, str(message.id), ids)


def parse_person(user: User) -> Asker:
    """Return a user with all names that Discord shows of them."""
    return Asker(str(user.id), user.display_name, aliases=aliases_of(user))


def _mark_people(text: str) -> str:
    return _USER.sub(lambda found: mention(found[1]), without_marks(text))


def mark_mentions(message: discord.Message) -> str:
    """Return a message's text with a mark for each mention of a person."""
    guild = message.guild

    def name(found: re.Match[str]) -> str:
        id_ = int(found[2])
        if found[1] == "#":
            channel = guild.get_channel_or_thread(id_) if guild else None
            return f"#{channel.name if channel else id_}"
        role = guild.get_role(id_) if guild else None
        return f"@{role.name if role else id_}"

    return _PLACE.sub(name, _mark_people(message.content)).strip()


def marked_question(message: discord.Message, our_id: str) -> str:
    """Return a message's text without the mention of the bot, with marks for the others."""
    return mark_mentions(message).replace(mention(our_id), "", 1).strip()


async def ask_in_thread(
    app: AppContext,
    chat: Chat,
    incoming: IncomingMessage,
    message: discord.Message,
    bot: discord.ClientUser,
) -> None:
    """Ask in a thread, a forum post or a reply: with what was said there, where that is allowed."""
    with suppress(discord.HTTPException):  # a sign while the thread is read
        await message.channel.typing()
    source = DiscordThread(bot, message)
    marked = replace(incoming, text=marked_question(message, source.our_id))
    rounds = await find_rounds(app, incoming, message, source)
    await app.reload_settings(incoming.place)
    read = await read_thread(app, marked, source, rounds)
    panel = panel_asked(app, read)
    if not rounds and _messages(read) and not await has_consent(app, incoming.place, panel):
        await request_consent(app, chat, incoming, panel)
        read = await read_thread(app, marked, source, with_messages=False)
        reading = replace(read.reading or ThreadReading(), unread=CONSENT_MISSING)
        read = replace(read, reading=reading)
    await run_command(app, chat, read, commands_of(app).parse(read.text))


def _messages(message: IncomingMessage) -> int:
    return message.reading.messages if message.reading else 0


async def find_rounds(
    app: AppContext, incoming: IncomingMessage, message: discord.Message, source: DiscordThread
) -> tuple[Round, ...]:
    """Return the rounds of a thread of ours, or the one at the top of a chain of replies."""
    if rounds := await load_thread_rounds(app, incoming.place):
        return rounds
    tops: Iterable[str] = ()
    if message.reference and message.reference.message_id and not incoming.place.thread:
        tops = (str(message.reference.message_id),)
        with suppress(CouncilError):  # then only the first is known
            tops = (*tops, *(one.id for one in (await source.messages())[:1]))
    for top in tops:
        if round_ := await find_round_of_message(app, incoming.place, top):
            return (round_,)
    return ()
