"""Deliver a round: post its progress, then its answer and thread, each message once."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace

from bot.chat import (
    Asker,
    Buttons,
    Caution,
    Chat,
    IncomingMessage,
    Line,
    Mentions,
    MessageGoneError,
    NoThreadError,
    Part,
    Post,
    PostingForbiddenError,
    ProgressUpdates,
    SendEphemeral,
    SentMessage,
    send_note,
)
from bot.commands.button_registry import buttons_of
from bot.commands.conversations import add_new_question
from bot.commands.retraction import retract_forgotten
from bot.commands.reveal import begin_hold, end_hold, wait_for_reveal
from bot.context import AppContext, usual_seconds
from bot.observability import logs
from bot.outbox import ROOT, ROOT_AGAIN
from bot.ports import (
    SHOW,
    Job,
    JobQueue,
    PlaceQueues,
    PubSub,
    RoundSnapshot,
    RoundStoppedError,
    is_probably_queued,
    job_for,
    queue_for,
)
from bot.render.formatting import add_note
from bot.render.people import with_names
from bot.render.round_report.decisions import decision_post
from bot.render.round_report.rankings import MAX_REASON_CHARACTERS
from bot.render.round_report.results import results_post
from bot.render.round_report.thread import (
    brief_post,
    details_posts,
    held_post,
    round_post,
    whole_round,
)
from bot.render.round_status import (
    add_asker,
    progress_post,
    reading_line,
    running_post,
    stopped_post,
    terms_line,
    without_heading,
)
from bot.render.voting import add_votes, hint_post, takes_blind_votes
from council.budget import estimate_round
from council.errors import CouncilError, StoreError
from council.feedback import HumanVote
from council.places import Place
from council.ports import RoundQuery, RoundSummary
from council.rounds import Draw, Round
from storage.transactions import waiting_for_room

RECEIPT_SECONDS = 1.0  # for the receiving process to confirm that it sends the reply
POLL_SECONDS = 15.0  # without a message, after which the job queue is asked
ENDED, POSTED = "-", "!"
MENTION_SECONDS = 20.0  # after which an asker has probably looked away
READY = "Your answer is ready."
NO_ANSWER = "Your question got no answer."
MAX_DELIVERIES = 200  # at once by one process
RETRY_SECONDS = 1.0  # before a round is delivered again whose process stopped
ROOM_SECONDS = 1.0  # between two tries to write while the disk is full
NO_PAGES: Mapping[str, Post] = {}
HINTED, MAX_REMEMBERED_HINTS = "vote offer", 1_000  # the kind of memo
HINT_ONCE_SECONDS = 86_400.0
HINT_AFTER_SECONDS = 1.0  # judges that are faster end before anybody could read the answers
VISIBLE, MAX_REMEMBERED_VISIBLE = "question is visible", 1_000  # the kind of memo


async def remember_visible(app: AppContext, round_id: str) -> None:
    """Remember that a question can be read where it is answered, so that nothing repeats it."""
    await app.key_values.put(VISIBLE, round_id, "")
    await app.key_values.prune(VISIBLE, MAX_REMEMBERED_VISIBLE)


async def deliver_round(
    app: AppContext, chat: Chat, message: IncomingMessage, round_: Round
) -> None:
    """Run a stored round and deliver it in its place; raise CouncilError for what is not posted.

    In a cluster, any process of a room's chat does this; cancelling the wait does not stop it.
    """
    place = round_.question.place
    if app.job_queue and chat.is_bound:  # other processes must not deliver it as well
        await app.store.deliver(round_.id, delivered=True)
    if app.job_queue is None or not chat.is_room or chat.is_bound:
        await follow_and_deliver(app, chat, place, round_)
        return
    job = job_for(SHOW, place, round_.id, app.parts.all(PlaceQueues))
    await enqueue_and_relay(app.job_queue, app.pubsub, job, chat, message)


async def follow_and_deliver(app: AppContext, chat: Chat, place: Place, round_: Round) -> Round:
    """Run a stored round unless it is running or closed, and deliver it; return it.

    If this is cancelled, a room's round runs on and any other round is stopped. If the round was
    cancelled in a room, post that and return. If posting is forbidden, send the answer to the asker
    alone; raise PostingForbiddenError, and stop the round, if it was not running yet.
    """
    live = _LiveMessage(chat, round_, await _surroundings(app, chat, round_))
    with waiting_for_room(_wait_for_room if chat.is_room else None):
        try:
            await _post_and_run(app, live, place)
        except (PostingForbiddenError, MessageGoneError) as error:
            await _deliver_privately(app, live, str(error))
    return live.snapshot.round_


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """What a running round's message says besides progress.

    `asker` is "" and `is_visible` True where the question stands above in its asker's own words.
    `terms` say who receives it, what it may cost and how long it takes, and `replies` that replies
    are read; both are "" once it is closed.
    """

    asker: str
    is_visible: bool
    terms: str
    replies: str


async def _surroundings(app: AppContext, chat: Chat, round_: Round) -> _Surroundings:
    if not chat.is_room:  # it shows none of them
        return _Surroundings("", is_visible=False, terms="", replies="")

    async def read() -> tuple[bool, float | None]:
        is_visible = await app.key_values.read(VISIBLE, round_.id) is not None
        is_open = not round_.closing
        return is_visible, await usual_seconds(app.store, round_.panel.name) if is_open else None

    is_visible, usual = await app.store.together(read)
    is_known = is_visible or chat.is_direct(round_.question.place)
    asker = "" if is_known else await chat.display_name(round_.question.asked_by)
    terms = replies = ""
    if not round_.closing:
        replies = await chat.replies_line(round_.question.place)
        terms = terms_line(round_, await estimate_round(round_, app.gateway), usual)
    return _Surroundings(asker, is_visible, terms, replies)


async def _wait_for_room() -> bool:
    await asyncio.sleep(ROOM_SECONDS)
    return True


def message_of(line: RoundSummary) -> IncomingMessage:
    """Return the message that asked a round."""
    return IncomingMessage(line.question, Asker(line.asked_by, line.asked_by), line.place, line.id)


async def _post_and_run(app: AppContext, live: "_LiveMessage", place: Place) -> None:
    round_id = live.snapshot.round_.id
    live.sent = await _send(app, live, ROOT, await live.post(), place)
    await live.chat.end_waiting()
    if not live.snapshot.round_.closing:
        await _run_round(app, live)
    if live.snapshot.round_.closing:
        await _deliver(app, live)
    else:
        await _show_stopped(app, live, "Cancelled.")
        if await _is_cancelled(app, live):  # and was not resumed meanwhile
            await app.store.deliver(round_id, delivered=True)


async def _run_round(app: AppContext, live: "_LiveMessage") -> None:
    """Run the round to its end, or until somebody in a room cancels it."""
    round_ = live.snapshot.round_
    try:
        if not await _is_cancelled(app, live):
            await _follow(app, live)
    except RoundStoppedError:
        # Nobody cancelled it, so this process is stopping; the next one resumes the round.
        if not await _is_cancelled(app, live):
            raise
    except asyncio.CancelledError:
        if not live.chat.is_room:
            await app.runner.stop(round_.id)
        raise
    except CouncilError as error:
        if live.chat.is_room:
            with suppress(CouncilError):  # the first error matters
                await _show_stopped(app, live, str(error))
        raise


async def _follow(app: AppContext, live: "_LiveMessage") -> None:
    round_ = live.snapshot.round_
    hint: asyncio.Task[None] | None = None
    try:
        async with live.keep_updated():
            app.runner.start(round_)
            async with app.runner.subscribe(round_.id) as snapshots:
                async for snapshot in snapshots:
                    live.show(snapshot)
                    if takes_blind_votes(snapshot.round_) and not live.chat.is_room:
                        hint = hint or asyncio.create_task(_hint_at_vote(app, live))
                    elif hint:
                        hint.cancel()
    finally:
        if hint:
            hint.cancel()
            await asyncio.gather(hint, return_exceptions=True)


async def _hint_at_vote(app: AppContext, live: "_LiveMessage") -> None:
    """Send a terminal, once, how to vote, unless the judges are done at once."""
    await asyncio.sleep(HINT_AFTER_SECONDS)
    round_, chat = live.snapshot.round_, live.chat
    is_read = chat.replies_privately and round_.question.asked_by
    if is_read and await app.key_values.mark_once(HINTED, round_.id, HINT_ONCE_SECONDS):
        await app.key_values.prune(HINTED, MAX_REMEMBERED_HINTS)
        await chat.send_ephemeral(message_of(RoundSummary.of(round_)), hint_post(round_.id))


async def _is_cancelled(app: AppContext, live: "_LiveMessage") -> bool:
    return live.chat.is_room and (await app.store.load_summary(live.snapshot.round_.id)).paused


async def _show_stopped(app: AppContext, live: "_LiveMessage", why: str) -> None:
    round_ = await app.store.load(live.snapshot.round_.id)
    await live.chat.edit(live.sent, live.around(stopped_post(round_, why)))


async def _deliver(app: AppContext, live: "_LiveMessage") -> None:
    round_, chat = live.snapshot.round_, live.chat
    await _deliver_held(app, live)
    if live.is_announced and await _is_forgotten(app, live):
        await app.store.deliver(round_.id, delivered=True)
        return
    # Splitting long answers into pages is slow and must not block the event loop.
    votes = await app.store.votes(round_.id)
    root, *replies = await asyncio.to_thread(_delivered_posts, live, votes)
    decided = await _decision_pages(app, live)
    if chat.shows_buttons:
        root = buttons_of(app).add_round_buttons(root, round_.id)
    sent = live.sent
    try:
        await chat.edit(sent, root)
    except MessageGoneError:
        sent = await _post_root_again(app, live, root)
    try:
        await _post_replies_or_hint(app, live, sent, replies, decided)
    except MessageGoneError:
        if sent.place.thread:  # the thread is not ours to start again
            raise
        sent = await _post_root_again(app, live, root)  # somebody deleted the message meanwhile
        await _post_replies_or_hint(app, live, sent, replies, decided)
    if sent == live.sent:
        await chat.finalize(sent, root)

    async def note() -> bool:
        is_forgotten = await _is_forgotten(app, live)
        if not is_forgotten:
            await app.store.deliver(round_.id, delivered=True)
        return is_forgotten

    if await app.store.together(note):
        await _retract(app, live, sent)
        await app.store.deliver(round_.id, delivered=True)


async def _deliver_held(app: AppContext, live: "_LiveMessage") -> None:
    """Post the answer of a round whose reveal is held, and wait for the end of the hold."""
    round_, chat = live.snapshot.round_, live.chat
    until = None if chat.is_bound or not chat.is_room else await begin_hold(app, round_)
    if until is None:
        return
    post = live.around(held_post(round_, until))
    root, *replies = await asyncio.to_thread(chat.pages, post)
    live.rewritten = len(replies)
    live.is_announced = True
    if app.now() >= until:
        return
    try:
        await chat.edit(live.sent, root)
        await _post_replies_or_hint(app, live, live.sent, replies)
    except MessageGoneError:  # there is nothing to vote on, so all of it is posted again
        live.is_announced = False
        await end_hold(app, round_.id)
        return
    if mention := _mention(round_):
        place = replace(live.sent.place, thread=live.sent.place.thread or live.sent.message)
        with suppress(NoThreadError, MessageGoneError):
            await app.outbox.send(chat, round_.id, "ready", Post(mention, post.summary), place)
    app.locks.dismiss(round_.id)
    await wait_for_reveal(app, round_)


async def _retract(app: AppContext, live: "_LiveMessage", sent: SentMessage) -> None:
    """Blank the answer again, since somebody forgot the round while it was posted."""
    with suppress(MessageGoneError):
        await live.chat.edit(sent, round_post(await app.store.load(live.snapshot.round_.id)))
    await retract_forgotten(app, live.snapshot.round_.id)


async def _is_forgotten(app: AppContext, live: "_LiveMessage") -> bool:
    before = live.snapshot.round_
    now = await app.store.load_summary(before.id)
    return bool(now.forgotten and not before.forgotten)


def _delivered_posts(live: "_LiveMessage", votes: Sequence[HumanVote]) -> list[Post]:
    """Return the messages of a closed round, each within the chat's limits.

    With a thread of its own, a round has the results and the rankings there; else one message. If
    it took long, its asker is mentioned once, in a message that is new. The terminal shows the
    answer, unless all of it is wanted.
    """
    chat, round_ = live.chat, live.snapshot.round_
    if not chat.is_room:
        replies = whole_round(round_).replies if chat.shows_all else ()
        return [add_votes(brief_post(round_), round_, votes), *replies]
    has_thread = chat.has_own_thread(round_.question.place, round_.id)
    # Decisions add no page here, since the replies have the numbers that they were sent with.
    posts = _root_pages(live, replace(round_, decisions=()), votes)
    if round_.decisions:
        posts[0] = _root_pages(live, round_, votes)[0]
    root = posts[0]
    mention = () if live.is_announced else _mention(round_)
    if has_thread and round_.draw:
        posts += _thread_posts(chat, round_, mention, root.summary)
    elif mention:
        posts.append(Post(mention, root.summary))
    return posts


def _root_pages(live: "_LiveMessage", round_: Round, votes: Sequence[HumanVote] = ()) -> list[Post]:
    """Return the answer of a room's round, within the chat's limits."""
    place = round_.question.place
    has_thread = live.chat.has_own_thread(place, round_.id)
    root = add_votes(round_post(round_, with_results=not has_thread), round_, votes)
    if live.chat.is_direct(place):
        root = add_new_question(root, round_)
    return [*live.chat.pages(live.around(root))]


async def _decision_pages(app: AppContext, live: "_LiveMessage") -> dict[str, Post]:
    """Return what a room's decisions add below the answer, under their names in the outbox.

    That is what an answer needs more than one message for, and what each decision leaves below it.
    """
    chat, round_ = live.chat, live.snapshot.round_
    if not chat.is_room or round_.forgotten:
        return {}
    pages: dict[str, Post] = {}
    names = {one.by: await chat.display_name(one.by) for one in round_.decisions}
    for number, decision in enumerate(round_.decisions, start=1):
        so_far = replace(round_, decisions=round_.decisions[:number])
        own = _root_pages(live, so_far)[1:] if round_.is_own(decision) else []
        below = chat.pages(with_names(decision_post(so_far, number, names), round_))
        found = (*own, *below)
        pages |= {f"decision {number}.{page}": post for page, post in enumerate(found, start=1)}
    return pages


def _mention(round_: Round) -> tuple[Part, ...]:
    """Return the mention of the asker of a round that took long."""
    took_long = round_.closing and round_.closing.seconds > MENTION_SECONDS
    if not took_long or not round_.question.asked_by or round_.forgotten:
        return ()
    return Mentions((round_.question.asked_by,)), Line(READY if round_.synthesis else NO_ANSWER)


def _thread_posts(chat: Chat, round_: Round, mention: Sequence[Part], title: str) -> Sequence[Post]:
    """Return results and rankings in one message if they fit, else in several."""
    draw = round_.draw
    if draw is None:
        return ()
    results = results_post(round_, draw)
    summary = title if mention else results.summary
    parts = results.parts[1:] if mention else results.parts  # the mention stands for the heading
    results = Post((*mention, *parts), summary)
    details = details_posts(round_, draw, MAX_REASON_CHARACTERS)
    parts = tuple(part for post in (results, *details) for part in post.parts)
    together = chat.pages(with_names(Post(parts, summary), round_))
    if len(together) == 1:
        return together
    return [*chat.pages(with_names(results, round_)), *_fitting_details(chat, round_, draw)]


def _fitting_details(chat: Chat, round_: Round, draw: Draw) -> Iterator[Post]:
    """Yield the rankings and the rest as one message each, with shorter texts if needed."""
    lengths = (MAX_REASON_CHARACTERS, 60)
    for versions in zip(*(details_posts(round_, draw, most) for most in lengths), strict=True):
        pages: Sequence[Post] = ()
        for version in versions:
            pages = chat.pages(with_names(version, round_))
            if len(pages) == 1:
                break
        yield from pages


async def _post_replies_or_hint(
    app: AppContext,
    live: "_LiveMessage",
    root: SentMessage,
    replies: Sequence[Post],
    decided: Mapping[str, Post] = NO_PAGES,
) -> None:
    """Post the rest under the answer; if that is forbidden, tell the asker about the buttons."""
    try:
        await _post_replies(app, live, root, replies)
        for part, post in decided.items():
            if not await _is_forgotten(app, live):
                place = _thread_of(root)
                await _send(app, live, part, post, place)
    except NoThreadError as error:
        line = f"{error} Use the buttons under the answer to see the rest."
        message = message_of(RoundSummary.of(live.snapshot.round_))
        await send_note(live.chat, message, line)


async def _post_replies(
    app: AppContext, live: "_LiveMessage", root: SentMessage, replies: Sequence[Post]
) -> None:
    place = _thread_of(root)
    for number, reply in enumerate(replies, start=1):
        if await _is_forgotten(app, live):
            return
        sent = await _send(app, live, number, reply, place)
        if number <= live.rewritten:
            with suppress(MessageGoneError):
                await live.chat.edit(sent, reply)


def _thread_of(root: SentMessage) -> Place:
    return replace(root.place, thread=root.place.thread or root.message)


async def _post_root_again(app: AppContext, live: "_LiveMessage", root: Post) -> SentMessage:
    return await _send(app, live, ROOT_AGAIN, root, live.sent.place)


async def _send(
    app: AppContext, live: "_LiveMessage", part: int | str, post: Post, place: Place
) -> SentMessage:
    """Send a part of a round, in a room once; elsewhere one process shows it, and only now."""
    round_id = live.snapshot.round_.id
    if live.chat.is_room:
        return await app.outbox.send(live.chat, round_id, part, post, place)
    return await live.chat.send(place, post, f"{round_id}/{part}")


async def _deliver_privately(app: AppContext, live: "_LiveMessage", why: str) -> None:
    """Send the answer to the asker alone; stop a round that was not running."""
    round_id = live.snapshot.round_.id
    if await app.runner.is_running(round_id):  # it is paid for in part, so wait for its end
        async with app.runner.subscribe(round_id) as snapshots:
            async for _ in snapshots:
                pass
    round_ = await app.store.load(round_id)
    live.show(RoundSnapshot(round_))
    if round_.closing:
        await _post_privately(app, live.chat, round_)
        await app.store.deliver(round_id, delivered=True)
    elif not (await app.store.load_summary(round_id)).paused:
        await app.store.pause(round_id, paused=True)
        await app.budget.ledger.release(round_id)
        await app.store.deliver(round_id, delivered=True)
        raise PostingForbiddenError(why)


async def _post_privately(app: AppContext, chat: Chat, round_: Round) -> None:
    root = round_post(round_, with_results=True)
    parts = tuple(part for part in root.parts if not isinstance(part, Buttons))
    line = f"I couldn't post this where you asked, so only you can see it (round {round_.id})."
    post = with_names(replace(root, parts=(Caution(line), *parts)), round_)
    place = chat.private_place(round_.question.asked_by, round_.question.place)
    with suppress(PostingForbiddenError, MessageGoneError):  # then there is nobody to tell
        for number, page in enumerate(await asyncio.to_thread(chat.pages, post)):
            await app.outbox.send(chat, round_.id, f"alone {number}", page, place)


class _LiveMessage:
    """A message that follows the newest snapshot and the time; never blocks the round."""

    sent: SentMessage
    is_announced = False  # its asker was told that the answer is there
    rewritten = 0  # so many replies were posted with the reveal held, and are replaced

    def __init__(self, chat: Chat, round_: Round, surroundings: _Surroundings) -> None:
        self.chat = chat
        self._surroundings = surroundings
        self.snapshot = RoundSnapshot(round_)
        self._changed = asyncio.Event()
        self._updates = ProgressUpdates(chat)
        self._shown_at = asyncio.get_running_loop().time()

    def show(self, snapshot: RoundSnapshot) -> None:
        self.snapshot = snapshot
        self._shown_at = asyncio.get_running_loop().time()
        self._changed.set()

    async def post(self) -> Post:
        round_, draft, seconds = self.snapshot.round_, self.snapshot.draft, self._seconds
        if not self.chat.is_room:
            return progress_post(round_, seconds, draft)
        running = self.around(running_post(round_, seconds, draft, self._surroundings.terms))
        if self._surroundings.replies:
            running = add_note(running, self._surroundings.replies)
        pages = await asyncio.to_thread(self.chat.pages, running)
        return pages[0]

    @property
    def _seconds(self) -> float:
        """The round's own time, which the line under its answer says at the end."""
        before = self.snapshot.seconds
        since = asyncio.get_running_loop().time() - self._shown_at
        return 0.0 if before is None else before + since

    def around(self, post: Post) -> Post:
        """Return a post with who asked, what was read of the thread, and the names of people.

        It is without the question where that can be read above it.
        """
        round_ = self.snapshot.round_
        if self._surroundings.is_visible and not round_.forgotten:
            post = without_heading(post)
        post = add_asker(post, round_, self._surroundings.asker)
        if line := reading_line(round_.question.reading):
            post = add_note(post, line)
        return with_names(post, round_)

    def keep_updated(self) -> AbstractAsyncContextManager[None]:
        return self._updates.keep_updating(self._edit_on_changes())

    async def _edit_on_changes(self) -> None:
        while not self.snapshot.round_.closing:
            try:
                async with asyncio.timeout(self.chat.tick_seconds):
                    await self._changed.wait()
            except TimeoutError:
                pass
            await self.chat.wait_for_edit_slot(self.sent)
            self._changed.clear()
            await self._updates.show(self.sent, await self.post())


# --- Ephemeral replies across processes: the process that received the command sends them.


class ReplyRelay:
    """Sends ephemeral replies through the process that received the command, else directly."""

    def __init__(self, pubsub: PubSub, job: Job, send_ephemeral: SendEphemeral) -> None:
        self._pubsub = pubsub
        self._job = job
        self._send_ephemeral = send_ephemeral

    async def __call__(self, message: IncomingMessage, post: Post) -> None:
        """Send an ephemeral reply."""
        with self._pubsub.subscription(_receipt_topic(self._job)) as receipts:
            await self._pubsub.publish(_reply_topic(self._job), f"+{post.summary}")
            with suppress(TimeoutError):
                async with asyncio.timeout(RECEIPT_SECONDS):
                    while not await receipts.get():
                        pass
                return
        await self._send_ephemeral(message, post)

    async def end_waiting(self) -> None:
        """Publish that the question's message is posted."""
        await self._pubsub.publish(_reply_topic(self._job), POSTED)

    async def end(self) -> None:
        """Publish that no reply follows."""
        await self._pubsub.publish(_reply_topic(self._job), ENDED)


async def enqueue_and_relay(
    job_queue: JobQueue, pubsub: PubSub, job: Job, chat: Chat, message: IncomingMessage
) -> None:
    """Enqueue a job, and send the asker its ephemeral replies until it is over."""
    with pubsub.subscription(_reply_topic(job)) as replies:
        with suppress(StoreError):  # then the sweep finds it
            await job_queue.enqueue(job)
        while True:
            text = ""
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_SECONDS):
                    text = await replies.get()
            if text == ENDED or (not text and not await is_probably_queued(job_queue, job)):
                return
            if text == POSTED:
                await chat.end_waiting()
            elif text.startswith("+"):
                await pubsub.publish(_receipt_topic(job), "+")
                await chat.send_ephemeral(message, Post((Caution(text[1:]),), text[1:]))


def _reply_topic(job: Job) -> str:
    return f"told {job.queue} {job.name}"


def _receipt_topic(job: Job) -> str:
    return f"answered {job.queue} {job.name}"


@dataclass(frozen=True, slots=True)
class RoundDelivery:
    """Worker that delivers the rounds of one chat, or one connection of it, as jobs of a cluster.

    `wanted` selects the rounds to check for undelivered ones, and `serves` the places that are
    connected. `new_chat` builds the chat that a round of a place is posted with; it may raise
    CouncilError. `send_ephemeral` is the fallback for replies to an asker whose command
    no live process received.
    """

    app: AppContext
    teller: str
    wanted: RoundQuery
    new_chat: Callable[[Place, SendEphemeral], Awaitable[Chat]]
    send_ephemeral: SendEphemeral
    serves: Callable[[Place], bool] = lambda _: True

    def serve_queue(self, job_queue: JobQueue) -> AbstractAsyncContextManager[None]:
        """Deliver queued rounds, and those whose process died, for the duration of the block."""
        return job_queue.serve_queue(
            f"{SHOW} {self.teller}", self.show, self.unfinished, MAX_DELIVERIES
        )

    async def undelivered(self) -> list[RoundSummary]:
        """Return this queue's rounds that are not fully delivered, oldest first."""
        wanted = replace(self.wanted, undelivered=True)
        found = await self.app.store.list_summaries(wanted=wanted)
        queues = self.app.parts.all(PlaceQueues)
        return [
            one
            for one in reversed(found)
            if queue_for(one.place, queues) == self.teller and self.serves(one.place)
        ]

    async def unfinished(self) -> list[str]:
        """Return the ids of the undelivered rounds."""
        return [line.id for line in await self.undelivered()]

    async def show(self, round_id: str) -> None:
        """Deliver a round; if that fails, reply to its asker and raise CouncilError."""
        message = message_of(await self.app.store.load_summary(round_id))
        job = Job(f"{SHOW} {self.teller}", round_id)
        relay = ReplyRelay(self.app.pubsub, job, self.send_ephemeral)
        try:
            await self._deliver(await self.new_chat(message.place, relay), round_id)
        except CouncilError as error:
            await _relay_error(relay, message, str(error))
            raise
        # The outermost handler: log a bug once, and reply without its details.
        except Exception as error:
            why = logs.log_unexpected_error("showing_failed", error, round_id=round_id)
            await _relay_error(relay, message, f"{why} Nothing you saved is lost.")
            raise CouncilError(why) from error
        await relay.end()

    async def _deliver(self, chat: Chat, round_id: str) -> None:
        while True:
            round_ = await self.app.store.load(round_id)
            try:
                await follow_and_deliver(self.app, chat, round_.question.place, round_)
            except RoundStoppedError:  # its process stopped: another resumes it
                await asyncio.sleep(RETRY_SECONDS)
            else:
                return


async def _relay_error(relay: ReplyRelay, message: IncomingMessage, why: str) -> None:
    await relay(message, Post((Caution(why),), why))
    await relay.end()
