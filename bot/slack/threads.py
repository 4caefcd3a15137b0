"""Slack threads as context: read a thread, offer to send it along with a question, ask with it."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from aiohttp import ClientError
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.access import check_admitted
from bot.chat import (
    Asker,
    Button,
    Buttons,
    Caution,
    Chat,
    Heading,
    IncomingMessage,
    Note,
    Post,
    Quote,
    event_key,
)
from bot.commands.conversations import load_conversation
from bot.commands.dispatch import run_command
from bot.commands.registry import commands_of
from bot.commands.thread_context import (
    BUSY,
    LIMITED,
    ThreadMessage,
    UnreadThreadError,
    give_consent,
    has_consent,
    may_consent,
    panel_asked,
    read_thread,
    receivers_digest,
    replace_mentions,
    tell_if_slow,
)
from bot.context import AppContext
from bot.render.formatting import count_noun
from bot.render.people import name_people
from bot.render.round_status import messages_read, receivers
from bot.slack.client import MAX_ITEMS, RateLimitedError, RefusedError
from bot.slack.events import Body, mark_mentions, mark_people, strip_mention
from bot.slack.history import Look, read_pages
from bot.slack.messages import SlackChat
from bot.slack.workspace import CHAT, Workspace
from council.errors import CouncilError
from council.panel import Panel
from council.people import ThreadReading
from council.places import Place
from council.rounds import Round

# Actions of the offer's buttons; the last also allows it for all threads of the channel.
WITH_THREAD, WITHOUT_THREAD, ALLOW_THREADS = "with_thread", "without_thread", "allow_threads"
_ASKED = "Send this thread along with your question?"
_UNREADABLE = (
    "I can't read this thread ({code}), so I can only be asked without it. Use /council in the "
    "channel."
)
_NO_LOOK = "Slack does not show me this thread right now. Ask again in a minute."
_OLD_DIGEST = 8  # characters of a digest in offers of 0.2
_MAX_ATTACHMENTS = 5  # of a message without text that are read
_MAX_EXCERPT = 1_200  # characters of the thread that the offer shows
# The subtypes of messages that people and bots write; all others report a change.
_WRITTEN = {None, "file_share", "me_message", "thread_broadcast", "bot_message"}


class SlackThread:
    """The thread of a question that was sent at `ts`; `question` is that message, once read.

    `since` is the last answer there, if the thread is our own: what came after it is read first,
    for Slack may show no more.
    """

    def __init__(self, workspace: Workspace, place: Place, ts: str, since: str = "") -> None:
        self.our_id = workspace.bot_user
        self.question: Body = {}
        self.part = ""
        self._workspace = workspace
        self._place = place
        self._ts = ts
        self._since = since
        self._look: Look | None = None  # one is dear

    async def person(self, id_: str) -> Asker:
        """Return a user; a guest if Slack does not know them."""
        try:
            return await self._workspace.asker(id_)
        except RefusedError:
            return Asker(id_, id_, is_guest=True)
        except CouncilError as error:
            raise UnreadThreadError(str(error), BUSY) from None

    async def messages(self) -> Sequence[ThreadMessage]:
        """Return the messages before the question, oldest first."""
        if missing := self._workspace.scope_for_threads(self._place):
            raise CouncilError(_UNREADABLE.format(code=f"{missing} is missing"))
        look = self._look = self._look or await self._fetch()
        self.part = look.part
        self.question = next((one for one in look.messages if one["ts"] == self._ts), {})
        earlier = (one for one in look.messages if one["ts"] != self._ts)
        return [self._parse(one) for one in earlier if one.get("subtype") in _WRITTEN]

    async def keep(self, question: Body) -> None:
        """Keep what was read, with the question, if another look is not to be had soon."""
        if self._look and await self._workspace.history_limit.is_known():
            others = [one for one in self._look.messages if one["ts"] != self._ts]
            self._workspace.looks.keep(self._name, Look([*others, question], self._look.part))

    async def reuse(self) -> None:
        """Read what was kept, if anything was."""
        if await self._workspace.history_limit.is_known():
            self._look = self._workspace.looks.find(self._name)

    @property
    def _name(self) -> str:
        return f"{self._place.channel} {self._ts}"

    async def _fetch(self) -> Look:
        """Return what Slack shows now; for a limited app, what came last."""
        try:
            newest, is_cut = await self._read(latest=self._ts, oldest=self._since or "0")
        except RateLimitedError:
            is_limited = await self._workspace.history_limit.is_known()
            raise UnreadThreadError(_NO_LOOK, LIMITED if is_limited else BUSY) from None
        if is_cut:
            return Look(newest, "first since" if self._since else "first")
        if not self._since:
            return Look(newest)
        if await self._workspace.history_limit.is_known():
            return Look(newest, "since")
        older: list[Body] = []
        try:
            older, is_cut = await self._read(latest=self._since)
        except RateLimitedError:
            is_cut = True
        if is_cut:
            return Look(newest, "since")
        by_ts = {str(one["ts"]): one for one in (*older, *newest)}
        return Look(sorted(by_ts.values(), key=lambda one: float(one["ts"])))

    async def _read(self, **params: str) -> tuple[list[Body], bool]:
        """Return the messages between two, and whether Slack shows no more of them now."""
        place, messages, is_cut = self._place, list[Body](), False
        pages = read_pages(
            self._workspace.history_limit,
            self._workspace.client.conversations_replies,
            channel=place.channel,
            ts=place.thread or self._ts,
            inclusive=True,
            **params,
        )
        try:
            async for page in pages:
                messages += page
        except RateLimitedError:
            if not messages:
                raise
            is_cut = True
        except RefusedError as error:
            raise CouncilError(_UNREADABLE.format(code=error.code)) from None
        if len(messages) >= MAX_ITEMS:  # the newest are missing
            raise CouncilError(_UNREADABLE.format(code="too long"))
        # Slack returns the thread's first message regardless of `latest`.
        return [one for one in messages if float(one["ts"]) <= float(self._ts)], is_cut

    def _parse(self, one: Body) -> ThreadMessage:
        ts, bot_id = str(one["ts"]), str(one.get("bot_id") or "")
        user = str(one.get("user") or bot_id)
        is_ours = user == self.our_id
        # Another bot may set its name in the message.
        name = one.get("username") or (one.get("bot_profile") or {}).get("name") or "a bot"
        files = (
            f"[file {file.get('name') or 'without a name'}]" for file in one.get("files") or ()
        )
        words = mark_mentions(str(one.get("text") or "") or _attached_text(one))
        return ThreadMessage(
            ts,
            message_key(self._workspace, self._place, ts),
            user,
            " ".join(filter(None, (words, *files))),
            is_ours=is_ours,
            bot=str(name) if bot_id and not is_ours else "",
        )


def _attached_text(one: Body) -> str:
    """Return the texts of the attachments of a message without text, such as an alert."""
    shown = (one.get("attachments") or ())[:_MAX_ATTACHMENTS]
    texts = (str(part.get("fallback") or part.get("text") or "") for part in shown)
    return "\n".join(filter(None, texts))


def message_key(workspace: Workspace, place: Place, ts: str) -> str:
    """Return the id of the round that a message asks."""
    return event_key(CHAT, workspace.team, f"{place.channel} {ts}")


async def without_names(
    app: AppContext,
    workspace: Workspace,
    message: IncomingMessage,
    text: str,
    others: Sequence[str] = (),
    before: Sequence[Round] = (),
) -> IncomingMessage:
    """Return a question without the names of those whom it mentions.

    `text` is its text as Slack has it; the context is as it was typed. `others` are the ids of
    people whose names it may have, `before` the rounds of its thread.
    """
    if message.is_direct and not message.place.thread:
        before = await load_conversation(app, message.place, message.asker.id)
    marked = replace(message, text=mark_mentions(text), context=mark_people(message.context))
    source = SlackThread(workspace, message.place, "")
    return await replace_mentions(app, marked, source, before, others)


async def ask_in_own_thread(
    app: AppContext,
    chat: SlackChat,
    message: IncomingMessage,
    event: Body,
    rounds: Sequence[Round],
) -> None:
    """Ask a follow-up in a thread of ours, with its rounds and what people wrote there."""
    since = await _last_answer(app, message.place, rounds)
    source = SlackThread(chat.workspace, message.place, str(event["ts"]), since)
    marked = replace(message, text=_marked_question(chat.workspace, event))
    async with tell_if_slow(chat, message):
        read = await read_thread(app, marked, source, rounds)
    await _ask(app, chat, read)


async def _last_answer(app: AppContext, place: Place, rounds: Sequence[Round]) -> str:
    """Return the message of the last answer in a thread, as the outbox has it; "" if unknown."""
    for round_ in reversed(rounds):
        if sent := await app.outbox.root(round_.id, place):
            return sent.message
    return ""


async def ask_in_thread(
    app: AppContext, chat: SlackChat, message: IncomingMessage, event: Body
) -> None:
    """Ask in somebody's thread: with it after a consent, else offer it to the asker.

    Without other messages there, or where it may not be read, the question is asked at once.
    """
    check_admitted(app.access, message)
    await app.reload_settings(message.place)
    source = SlackThread(chat.workspace, message.place, str(event["ts"]))
    marked = replace(message, text=_marked_question(chat.workspace, event))
    async with tell_if_slow(chat, message):
        read = await read_thread(app, marked, source)
    panel = panel_asked(app, read)
    if not _has_messages(read) or await has_consent(app, message.place, panel):
        await _ask(app, chat, read)
    else:
        await source.keep(event)
        await _send_offer(app, chat, read, panel, str(event["ts"]))


async def ask_about_thread(
    app: AppContext, chat: SlackChat, message: IncomingMessage, action: tuple[str, str]
) -> None:
    """Ask the question of an offer, with the thread or without.

    `action` is the name and value of the pressed button. A thread that has changed since it was
    shown, or that would go to others, is offered again.
    """
    name, value = action
    ts, thread, digest = value.split("|")
    place = replace(message.place, thread=thread)
    source = SlackThread(chat.workspace, place, ts)
    await source.reuse()
    async with tell_if_slow(chat, message):
        await source.messages()
    if not source.question:
        raise CouncilError("Your question has expired. Please ask it again.")
    if source.question.get("user") != message.asker.id:
        raise CouncilError("Only the person who asked can use this button.")
    question = replace(
        message,
        text=_marked_question(chat.workspace, source.question),
        place=place,
        key=message_key(chat.workspace, place, ts),
        is_visible=True,
    )
    with_messages = name != WITHOUT_THREAD
    async with tell_if_slow(chat, message):
        read = await read_thread(app, question, source, with_messages=with_messages)
    await app.reload_settings(place)
    panel = panel_asked(app, read)
    # An offer of 0.2 has a digest of its own text, which had names; only edits can differ.
    is_newer = len(digest) > _OLD_DIGEST
    if is_newer and _has_messages(read) and receivers_digest(panel, read.context) != digest:
        await _send_offer(app, chat, read, panel, ts, has_changed=True)
        return
    if name == ALLOW_THREADS:
        await give_consent(app, question, panel)
    await _ask(app, chat, read)


def _marked_question(workspace: Workspace, event: Body) -> str:
    return mark_mentions(strip_mention(str(event.get("text") or ""), workspace.bot_user))


async def _ask(app: AppContext, chat: Chat, message: IncomingMessage) -> None:
    await run_command(app, chat, message, commands_of(app).parse(message.text))


def _has_messages(message: IncomingMessage) -> bool:
    return bool(message.reading and message.reading.messages)


def offer_post(
    read: IncomingMessage,
    panel: Panel,
    value: str,
    *,
    may_allow: bool = False,
    has_changed: bool = False,
) -> Post:
    """Return the ephemeral message that asks whether to send a thread to a panel.

    `value` is the value of its buttons: timestamp of the question, thread and digest.
    """
    context, reading = read.context, read.reading or ThreadReading()
    read_part = messages_read(reading)
    size = f"{read_part[0].upper()}{read_part[1:]}, {len(context):,} characters"
    if reading.left_out:
        size += f"; {count_noun(reading.left_out, 'older message')} left out"
    changed = "The thread has changed since. This is what would be sent now."
    excerpt = context[-_MAX_EXCERPT:]
    shown = Post((Quote(excerpt if excerpt == context else f"…{excerpt}"),))
    buttons = [
        Button(WITH_THREAD, "Ask with it", value),
        Button(WITHOUT_THREAD, "Ask without", value),
    ]
    who = "An admin can allow this once for the whole channel."
    if may_allow:
        buttons.insert(1, Button(ALLOW_THREADS, "Always, in this channel", value))
        who = "“Always” lets everybody here ask with threads, until these receivers change."
    names = "Models read Person 1, Person 2 instead of names."
    return Post(
        (
            *([Caution(changed)] if has_changed else []),
            Heading(_ASKED),
            *name_people(shown, reading.people).parts,
            Note(f"{size}. All of it would go to {receivers(panel)}. {names} {who}"),
            Buttons(tuple(buttons)),
        ),
        _ASKED,
    )


async def delete_offer(response_url: str) -> None:
    """Delete an offer whose button was pressed; if Slack does not, it stays without effect."""
    if not response_url:
        return
    webhook = AsyncWebhookClient(response_url, timeout=2, retry_handlers=[])
    with suppress(ClientError, TimeoutError, OSError):
        await webhook.send_dict({"delete_original": True})


async def _send_offer(
    app: AppContext,
    chat: Chat,
    read: IncomingMessage,
    panel: Panel,
    ts: str,
    *,
    has_changed: bool = False,
) -> None:
    value = "|".join((ts, read.place.thread or "", receivers_digest(panel, read.context)))
    may_allow = may_consent(app, read)
    post = offer_post(read, panel, value, may_allow=may_allow, has_changed=has_changed)
    await chat.send_ephemeral(read, post)
