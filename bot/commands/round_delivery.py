"""A round before people's eyes: how it goes, then the answer and its thread, each sent once."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace
from itertools import chain

from bot.chat import (
    Asker,
    Buttons,
    Caution,
    Chat,
    File,
    IncomingMessage,
    MessageGoneError,
    Note,
    NoThreadError,
    Post,
    PostingForbiddenError,
    ProgressUpdates,
    SendEphemeral,
    SentMessage,
)
from bot.context import AppContext
from bot.observability import logs
from bot.outbox import ROOT, ROOT_AGAIN
from bot.ports import (
    SHOW,
    Job,
    JobQueue,
    PubSub,
    RoundSnapshot,
    RoundStoppedError,
    job_of,
    queue_of_place,
    seems_queued,
)
from bot.render.formatting import file_name
from bot.render.round_report import as_markdown, report
from bot.render.round_status import progress_post, running_post, signed, stopped_post
from council.errors import CouncilError, StoreError
from council.places import Place
from council.ports import RoundQuery, RoundSummary
from council.rounds import Round

# --- A round before people's eyes: how it goes, then the answer and its thread, each sent once.


async def follow_and_deliver(app: AppContext, chat: Chat, place: Place, round_: Round) -> Round:
    """Carry a stored round on where that is needed, and show it in a place until all is told.

    Where a room is told that it was cancelled, nothing is raised. A room's round goes on when the
    showing is cancelled; any other is stopped with it. What may not be posted in the place is told
    to the asker alone; PostingForbiddenError where nobody has been asked yet, and then nobody is.
    """
    screen = _LiveMessage(chat, round_, await chat.named(round_.question.asked_by))
    try:
        await _shown(app, screen, place)
    except (PostingForbiddenError, MessageGoneError) as error:
        await _kept(app, screen, str(error))
    return screen.sight.round_


async def _shown(app: AppContext, screen: "_LiveMessage", place: Place) -> None:
    round_id = screen.sight.round_.id
    screen.sent = await app.outbox.send(screen.chat, round_id, ROOT, await screen.post(), place)
    if not screen.sight.round_.closing:
        await _carried(app, screen)
    if screen.sight.round_.closing:
        await _deliver(app, screen)
    else:
        await _stopped(app, screen, "Cancelled.")
        if await _is_cancelled(app, screen):  # and not gone on with meanwhile
            await app.store.deliver(round_id, delivered=True)


async def _kept(app: AppContext, screen: "_LiveMessage", why: str) -> None:
    """Tell the asker alone what cannot be posted; where nobody has been asked yet, ask nobody."""
    round_id = screen.sight.round_.id
    if await app.runner.is_running(round_id):  # it is paid for already, so it is seen to its end
        async with app.runner.subscribe(round_id) as sights:
            async for _ in sights:
                pass
    round_ = await app.store.load(round_id)
    screen.show(RoundSnapshot(round_))
    if round_.closing:
        await _tell_alone(app, screen.chat, round_)
        await app.store.deliver(round_id, delivered=True)
    elif not (await app.store.line(round_id)).paused:
        await app.store.pause(round_id, paused=True)
        await app.budget.release(round_id)
        await app.store.deliver(round_id, delivered=True)
        raise PostingForbiddenError(why)


async def _tell_alone(app: AppContext, chat: Chat, round_: Round) -> None:
    """Give the answer to the asker, where nobody else reads."""
    root = report(round_).root
    parts = tuple(part for part in root.parts if not isinstance(part, Buttons))
    line = f"I could not post this where you asked for it, so only you see it (round {round_.id})."
    post = replace(root, parts=(Caution(line), *parts))
    place = chat.private_place(round_.question.asked_by, round_.question.place)
    with suppress(PostingForbiddenError, MessageGoneError):  # then nobody is there to be told
        for number, page in enumerate(await asyncio.to_thread(chat.pages, post)):
            await app.outbox.send(chat, round_.id, f"alone {number}", page, place)


async def _carried(app: AppContext, screen: "_LiveMessage") -> None:
    """Have the round carried to its end, or until somebody in a room cancels it."""
    round_ = screen.sight.round_
    try:
        if not await _is_cancelled(app, screen):
            await _followed(app, screen)
    except RoundStoppedError:
        # Without being told to stop it, this process is at its end, and the next one goes on.
        if not await _is_cancelled(app, screen):
            raise
    except asyncio.CancelledError:
        if not screen.chat.is_room:
            await app.runner.stop(round_.id)
        raise
    except CouncilError as error:
        if screen.chat.is_room:
            with suppress(CouncilError):  # what went wrong first is what is told
                await _stopped(app, screen, str(error))
        raise


async def _is_cancelled(app: AppContext, screen: "_LiveMessage") -> bool:
    """Say whether somebody in a room stopped the round on purpose."""
    return screen.chat.is_room and (await app.store.line(screen.sight.round_.id)).paused


async def _followed(app: AppContext, screen: "_LiveMessage") -> None:
    """Have the round carried to its end, and show how it goes."""
    round_id = screen.sight.round_.id
    async with screen.kept_up():
        app.runner.start(screen.sight.round_)
        async with app.runner.subscribe(round_id) as sights:
            async for sight in sights:
                screen.show(sight)


async def _stopped(app: AppContext, screen: "_LiveMessage", why: str) -> None:
    round_ = await app.store.load(screen.sight.round_.id)
    await screen.chat.edit(screen.sent, signed(stopped_post(round_, why), round_, screen.asker))


async def _deliver(app: AppContext, screen: "_LiveMessage") -> None:
    """Put the answer where progress was shown, and the rest under it."""
    round_, chat = screen.sight.round_, screen.chat
    thread = report(round_)
    posts = (signed(thread.root, round_, screen.asker), *thread.replies)
    # Long answers take a moment to divide, and others must not wait for it.
    (root, *rest), *more = await asyncio.to_thread(lambda: [chat.pages(post) for post in posts])
    replies = [*rest, *chain.from_iterable(more)]
    if chat.keeps_files:
        name = file_name(round_.id, "md")
        replies.append(Post((File(name, as_markdown(thread)),), name))
    sent = await _rooted(app, screen, root)
    try:
        await _revealed(app, screen, sent, replies)
    except MessageGoneError:
        if sent.place.thread:  # not ours to begin anew
            raise
        sent = await _again(app, screen, root)  # somebody has deleted it meanwhile
        await _revealed(app, screen, sent, replies)
    if sent == screen.sent:
        await chat.settle(sent, root)
    await app.store.deliver(round_.id, delivered=True)


async def _revealed(
    app: AppContext, screen: "_LiveMessage", root: SentMessage, replies: Sequence[Post]
) -> None:
    """Put the rest under the answer; where that cannot be, its buttons show it: tell the asker."""
    try:
        await _replied(app, screen, root, replies)
    except NoThreadError as error:
        round_ = screen.sight.round_
        asked = round_.question
        line = f"{error} The buttons under the answer show what would be there."
        said = IncomingMessage(
            asked.text, Asker(asked.asked_by, asked.asked_by), asked.place, round_.id
        )
        await screen.chat.send_ephemeral(said, Post((Note(line),), line))


async def _replied(
    app: AppContext, screen: "_LiveMessage", root: SentMessage, replies: Sequence[Post]
) -> None:
    """Put the rest under the answer; what has been sent is not sent again."""
    place = replace(root.place, thread=root.place.thread or root.message)
    for number, reply in enumerate(replies, start=1):
        is_file = any(isinstance(part, File) for part in reply.parts)
        part = reply.summary if is_file else number
        await app.outbox.send(screen.chat, screen.sight.round_.id, part, reply, place)


async def send_file(
    app: AppContext, chat: Chat, round_: Round, place: Place, file: File
) -> SentMessage:
    """Post a file in a round's thread, once."""
    return await app.outbox.send(chat, round_.id, file.name, Post((file,), file.name), place)


async def _rooted(app: AppContext, screen: "_LiveMessage", root: Post) -> SentMessage:
    """Give the message that holds the answer: the one that showed progress, else a new one."""
    try:
        await screen.chat.edit(screen.sent, root)
    except MessageGoneError:
        return await _again(app, screen, root)
    return screen.sent


async def _again(app: AppContext, screen: "_LiveMessage", root: Post) -> SentMessage:
    """Give the message that holds the answer in place of the one that is gone."""
    round_id, place = screen.sight.round_.id, screen.sent.place
    return await app.outbox.send(screen.chat, round_id, ROOT_AGAIN, root, place)


class _LiveMessage:
    """Shows the newest state of a round, and that time passes; never holds the round up."""

    sent: SentMessage

    def __init__(self, chat: Chat, round_: Round, asker: str) -> None:
        self.chat = chat
        self.asker = asker
        self.sight = RoundSnapshot(round_)
        self._changed = asyncio.Event()
        self._shown = ProgressUpdates(chat)
        self._started = asyncio.get_running_loop().time()

    def show(self, sight: RoundSnapshot) -> None:
        """Take note of a change."""
        self.sight = sight
        self._changed.set()

    async def post(self) -> Post:
        """Give what is to be seen now."""
        seconds = asyncio.get_running_loop().time() - self._started
        round_, draft = self.sight.round_, self.sight.draft
        if not self.chat.is_room:
            return progress_post(round_, seconds, draft)
        running = signed(running_post(round_, seconds, draft), round_, self.asker)
        pages = await asyncio.to_thread(self.chat.pages, running)
        return pages[0]

    def kept_up(self) -> AbstractAsyncContextManager[None]:
        """Keep the message up to date as long as the block lasts."""
        return self._shown.kept_up(self._keep_up())

    async def _keep_up(self) -> None:
        """Edit the message on every change, and at each tick; runs until the round is closed."""
        while not self.sight.round_.closing:
            try:
                async with asyncio.timeout(self.chat.tick_seconds):
                    await self._changed.wait()
            except TimeoutError:
                pass
            await self.chat.turn(self.sent)
            self._changed.clear()
            await self._shown.show(self.sent, await self.post())


# --- What the asker alone is told, passed on to the process that heard them; it reaches them best

ANSWER_SECONDS = 1.0  # what the process that heard the asker is given to say that it tells them
LOOK_SECONDS = 15.0  # without a word, after which the works are asked
ENDED = "-"


class ReplyRelay:
    """Tells an asker by the process that heard them, else by the way it was given."""

    def __init__(self, bus: PubSub, work: Job, whisper: SendEphemeral) -> None:
        self._bus = bus
        self._work = work
        self._whisper = whisper

    async def __call__(self, said: IncomingMessage, post: Post) -> None:
        """Tell the one who spoke."""
        with self._bus.subscription(_answered(self._work)) as answers:
            await self._bus.publish(_told(self._work), f"+{post.summary}")
            with suppress(TimeoutError):
                async with asyncio.timeout(ANSWER_SECONDS):
                    while not await answers.get():
                        pass
                return
        await self._whisper(said, post)

    async def end(self) -> None:
        """Say that there is nothing more to be told."""
        await self._bus.publish(_told(self._work), ENDED)


async def begin_and_hear(
    works: JobQueue, bus: PubSub, work: Job, chat: Chat, said: IncomingMessage
) -> None:
    """Begin a work, and tell the one who spoke what comes of it, until it is over."""
    with bus.subscription(_told(work)) as told:
        with suppress(StoreError):  # then the sweep finds it
            await works.begin(work)
        while True:
            text = ""
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    text = await told.get()
            if text == ENDED or (not text and not await seems_queued(works, work)):
                return
            if text.startswith("+"):
                await bus.publish(_answered(work), "+")
                await chat.send_ephemeral(said, Post((Caution(text[1:]),), text[1:]))


def _told(work: Job) -> str:
    return f"told {work.queue} {work.name}"


def _answered(work: Job) -> str:
    return f"answered {work.queue} {work.name}"


# --- Rounds shown as work of a cluster: by whichever process of their chat comes first.

MOST_SHOWN = 200  # at once by one process
AGAIN_SECONDS = 1.0  # before a round is shown on whose process stopped


async def deliver_round(app: AppContext, chat: Chat, said: IncomingMessage, round_: Round) -> None:
    """Have a stored round carried to its end and shown in its place; raise what is not told there.

    In a cluster any process of a room's chat does it, and whoever waits here may leave: it goes on.
    """
    place = round_.question.place
    if app.job_queue is None or not chat.is_room:
        await follow_and_deliver(app, chat, place, round_)
        return
    work = job_of(SHOW, place, round_.id, app.shards)
    await begin_and_hear(app.job_queue, app.pubsub, work, chat, said)


@dataclass(frozen=True, slots=True)
class RoundDelivery:
    """Shows what is told by one teller, such as a chat.

    `wanted` are the rounds among which it looks for those that are not told yet, `new_chat` gives
    the chat that they are shown in, and `whisper` is how askers are told whom nobody here heard.
    """

    app: AppContext
    teller: str
    wanted: RoundQuery
    new_chat: Callable[[SendEphemeral], Chat]
    send_ephemeral: SendEphemeral

    def serve_queue(self, works: JobQueue) -> AbstractAsyncContextManager[None]:
        """Show what is begun, and what nobody shows any more, as long as the block lasts."""
        return works.serve_queue(f"{SHOW} {self.teller}", self.show, self.unfinished, MOST_SHOWN)

    async def unfinished(self) -> list[str]:
        """Give the ids of the rounds whose place has not been told all, oldest first."""
        wanted = replace(self.wanted, undelivered=True)
        found = await self.app.store.recent(wanted=wanted)
        return [line.id for line in reversed(found) if self._is_ours(line)]

    def _is_ours(self, line: RoundSummary) -> bool:
        return queue_of_place(line.place, self.app.shards) == self.teller

    async def show(self, round_id: str) -> None:
        """Show a round to its end; raise CouncilError, its asker told, where that fails."""
        line = await self.app.store.line(round_id)
        said = IncomingMessage(
            line.question, Asker(line.asked_by, line.asked_by), line.place, line.id
        )
        work = Job(f"{SHOW} {self.teller}", round_id)
        relay = ReplyRelay(self.app.pubsub, work, self.send_ephemeral)
        try:
            await self._shown(self.new_chat(relay), round_id)
        except CouncilError as error:
            await _failed(relay, said, str(error))
            raise
        # The outermost handler: what nobody foresaw is logged once and told without its insides.
        except Exception as error:
            why = logs.unforeseen("showing_failed", error, round_id=round_id)
            await _failed(relay, said, f"{why} Nothing that was saved is lost.")
            raise CouncilError(why) from error
        await relay.end()

    async def _shown(self, chat: Chat, round_id: str) -> None:
        while True:
            round_ = await self.app.store.load(round_id)
            try:
                await follow_and_deliver(self.app, chat, round_.question.place, round_)
            except RoundStoppedError:  # with the process that carried it: another goes on
                await asyncio.sleep(AGAIN_SECONDS)
            else:
                return


async def _failed(relay: ReplyRelay, said: IncomingMessage, why: str) -> None:
    await relay(said, Post((Caution(why),), why))
    await relay.end()
