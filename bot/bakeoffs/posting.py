"""Post a bake-off in its chat: one message with its progress, then its result and news."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace

from bot.bakeoffs.baselines import blessed_run
from bot.bakeoffs.leaderboard import LeaderboardQuery, compute_changes, count_records
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.records import update_records
from bot.bakeoffs.registry import RunningBakeoff
from bot.bakeoffs.render.bakeoffs import (
    Frame,
    bakeoff_title,
    failure_post,
    result_thread,
    room_result_thread,
    running_post,
    stopped_post,
)
from bot.bakeoffs.render.headline import missing_lines
from bot.bakeoffs.render.leaderboard import leaderboard_thread, render_leaderboard_png
from bot.bakeoffs.render.leaderboard_tables import Leaderboard
from bot.bakeoffs.render.leaderboard_text import changes_post
from bot.bakeoffs.render.matrix import methods_post
from bot.bakeoffs.render.trials import trial_thread
from bot.bakeoffs.trials import load_run_records, load_tried
from bot.chat import (
    Caution,
    Chat,
    File,
    MessageGoneError,
    NoThreadError,
    Post,
    PostingForbiddenError,
    ProgressUpdates,
    SentMessage,
    Thread,
)
from bot.context import AppContext
from bot.observability.logs import log_unexpected_error
from bot.outbox import ROOT, ROOT_AGAIN
from bot.render.formatting import panel_seat_names
from council.bakeoffs.changes import Changes, LostBaseline
from council.bakeoffs.council_value import CouncilValue, compare_with_drafts, measure_voted_value
from council.bakeoffs.matrix import Matrix, build_matrix
from council.bakeoffs.models import Bakeoff, BakeoffProgress
from council.bakeoffs.ports import RecordQuery
from council.bakeoffs.record_arrays import record_columns
from council.bakeoffs.records import PackedRecord
from council.errors import CouncilError, StoreError
from council.ports import RoundQuery

NEWS, FAILED = "news", "failed"
TOLD = "told"  # the kind of memo: the last news of a schedule


@dataclass(frozen=True, slots=True)
class BakeoffResult:
    """The result as posts; `news` is a separate message, None if nothing changed."""

    thread: Thread
    news: Post | None = None


class BakeoffPoster:
    """Posts one bake-off in its place; falls back to a private message to who started it."""

    def __init__(self, app: AppContext, chat: Chat, progress: BakeoffProgress) -> None:
        self._app = app
        self._chat = chat
        self._progress = progress
        self._bakeoff = progress.bakeoff
        self._asker = ""
        self._frame: Frame | None = None
        self._sent: SentMessage | None = None
        self._updates = ProgressUpdates(chat)

    async def begin(self) -> None:
        """Post the progress message; raise PostingForbiddenError if that fails before any round."""
        self._asker = await self._chat.display_name(self._bakeoff.asked_by)
        try:
            self._frame = await load_frame(self._app, self._chat, self._bakeoff)
            post = running_post(self._progress, self._asker, self._frame)
            self._sent = await self._send(ROOT, post)
        except (PostingForbiddenError, MessageGoneError) as error:
            if not self._progress.is_queued:
                raise PostingForbiddenError(str(error)) from None

    async def _send(self, part: int | str, post: Post) -> SentMessage:
        place = self._bakeoff.place
        return await self._app.outbox.send(self._chat, self._bakeoff.id, part, post, place)

    def keep_updated(self, running: RunningBakeoff) -> AbstractAsyncContextManager[None]:
        """Keep the message up to date for the duration of the block."""
        return self._updates.keep_updating(self._edit_on_changes(running))

    async def _edit_on_changes(self, running: RunningBakeoff) -> None:
        """Edit the message on every change, as often as the chat's rate limit allows."""
        if self._sent is None:
            return
        with running.subscription() as events:
            while await events.get():
                await self._chat.wait_for_edit_slot(self._sent)
                while not events.empty():  # only the newest matters
                    events.get_nowait()
                post = running_post(running.state, self._asker, self._frame)
                await self._updates.show(self._sent, post)

    async def stop(self, progress: BakeoffProgress, why: str) -> None:
        """Post why it stopped, if possible; an error here must not hide the first one."""
        with suppress(CouncilError):
            if self._sent:
                await self._chat.edit(self._sent, stopped_post(progress, why, self._frame))
        with suppress(CouncilError):
            await self._send_failure(progress, why)

    async def _send_failure(self, progress: BakeoffProgress, why: str) -> None:
        """Post why it ended early as a separate message, addressed like news."""
        frame = await load_frame(self._app, self._chat, self._bakeoff)
        await self._send(_part_key(progress, FAILED), failure_post(progress, why, frame))

    async def end(self, progress: BakeoffProgress, *, is_cancelled: bool) -> None:
        """Replace the progress message by the result, reply with the rest, and post the news.

        A failure is posted as a separate message.
        """
        frame = await load_frame(self._app, self._chat, self._bakeoff)
        pictured = self._chat.accepts_files
        result = await render_result(self._app, progress, frame, pictured=pictured)
        ending = progress.bakeoff.ending
        try:
            await self._post_result(progress, result)
            if ending and ending.failure and not is_cancelled:
                await self._send_failure(progress, ending.failure)
        except NoThreadError:
            return  # the result is posted; `show` has the rest
        except (PostingForbiddenError, MessageGoneError):
            await self._post_privately(progress, result.thread.root)

    async def _post_result(self, progress: BakeoffProgress, result: BakeoffResult) -> None:
        sent, root = await self._post_root(result.thread.root)
        if result.news:
            await self._send(NEWS, result.news)
        place = replace(sent.place, thread=sent.place.thread or sent.message)
        pages = [page for post in result.thread.replies for page in self._pages(post)]
        for number, page in enumerate((*root[1:], *pages), start=1):
            part = _part_key(progress, number)
            await self._app.outbox.send(self._chat, self._bakeoff.id, part, page, place)
        await self._chat.finalize(sent, root[0])

    def _pages(self, post: Post) -> tuple[Post, ...]:
        if any(isinstance(part, File) for part in post.parts):
            return (post,) if self._chat.accepts_files else ()
        return self._chat.pages(post)

    async def _post_root(self, root: Post) -> tuple[SentMessage, tuple[Post, ...]]:
        """Post the first page of the result; return its message and all pages."""
        pages = self._chat.pages(root)
        if self._sent is not None:
            with suppress(MessageGoneError):
                await self._chat.edit(self._sent, pages[0])
                return self._sent, pages
        return await self._send(ROOT_AGAIN, pages[0]), pages

    async def _post_privately(self, progress: BakeoffProgress, root: Post) -> None:
        line = Caution("I couldn't post this where you asked for it, so only you can see it.")
        place = self._chat.private_place(self._bakeoff.asked_by, self._bakeoff.place)
        with suppress(PostingForbiddenError, MessageGoneError):  # then there is nobody to tell
            post = replace(root, parts=(line, *root.parts))
            for number, page in enumerate(self._chat.pages(post)):
                part = _part_key(progress, f"alone {number}")
                await self._app.outbox.send(self._chat, self._bakeoff.id, part, page, place)


def _part_key(progress: BakeoffProgress, part: int | str) -> str:
    """Return the part's key, distinct for each time that the bake-off ended early."""
    return f"{part}" if progress.is_complete else f"{progress.over} {part}"


# --- The result of a bake-off: leaderboard, changes since earlier runs, closed rounds.


async def bakeoff_leaderboard(app: AppContext, bakeoff: Bakeoff) -> Leaderboard:
    """Return the leaderboard of one bake-off's rounds; not a trial's, compared with other runs."""
    await update_records(app)
    suite, scope, panel = bakeoff.suite, bakeoff.place.scope, bakeoff.panel.name
    query = LeaderboardQuery(suite.name, suite.version, panel, scope=scope)
    now = await bakeoff_records(app, bakeoff)
    names = panel_seat_names((*app.panels.values(), bakeoff.panel))
    board = await asyncio.to_thread(count_records, now, query, names)
    changes = await _changes(app, bakeoff, now)
    return replace(board, changes=changes, worth=await _council_value(app, bakeoff, board, now))


async def _changes(
    app: AppContext, bakeoff: Bakeoff, now: Sequence[PackedRecord]
) -> Changes | None:
    """Return what changed since the blessed run, else since the runs before; None for a trial."""
    if bakeoff.panel.trial:
        return None
    blessed = await blessed_run(app, bakeoff)
    if isinstance(blessed, Bakeoff):
        if before := await bakeoff_records(app, blessed):
            changes = await asyncio.to_thread(compute_changes, now, before)
            return changes and replace(changes, baseline=blessed.at)
        blessed = LostBaseline(blessed.id)  # its rounds were deleted
    earlier = RecordQuery(
        bakeoff.place.scope,
        bakeoff.suite.name,
        bakeoff.suite.version,
        bakeoff.panel.name,
        before=bakeoff.at,
    )
    found = await bakeoff_stores(app).records.list_recent(earlier)
    before = [record for record in found if record.bakeoff not in {"", bakeoff.id}]
    changes = await asyncio.to_thread(compute_changes, now, before)
    return replace(changes or Changes(bakeoff.id, 0), lost=blessed) if blessed else changes


async def _council_value(
    app: AppContext, bakeoff: Bakeoff, board: Leaderboard, now: Sequence[PackedRecord]
) -> CouncilValue:
    """Return the council's value by grades, with the best member's drafts, or by people's votes.

    Nothing for a bake-off of several methods, which would count each question several times.
    """
    suite, columns = bakeoff.suite, record_columns(now)
    if len(suite.methods) > 1:
        return CouncilValue()
    if not board.worth.rows:
        votes = await app.store.votes(bakeoff=bakeoff.id)
        return measure_voted_value(columns, [one for one in votes if one.calibrates])
    if not board.worth.best:
        return board.worth
    same_suite = RecordQuery(bakeoff.place.scope, suite.name, suite.version)
    others = record_columns(await bakeoff_stores(app).records.list_recent(same_suite))
    drafts = compare_with_drafts(columns, others, board.worth.best.member)
    return replace(board.worth, drafts=drafts)


async def bakeoff_records(app: AppContext, bakeoff: Bakeoff) -> Sequence[PackedRecord]:
    """Return the records of a bake-off's rounds; a trial's with the answers that it used again."""
    if bakeoff.panel.trial:
        return await load_run_records(app, bakeoff)
    return await bakeoff_stores(app).records.list_recent(RecordQuery(bakeoff=bakeoff.id))


async def bakeoff_matrix(
    app: AppContext, bakeoff: Bakeoff, failures: Mapping[int, str]
) -> tuple[Matrix, Sequence[PackedRecord]]:
    """Return a bake-off question by question, with its records; `failures` by number."""
    rounds = await app.store.list_summaries(wanted=RoundQuery(bakeoff=bakeoff.id))
    records = await bakeoff_records(app, bakeoff)
    return await asyncio.to_thread(build_matrix, bakeoff, rounds, records, failures), records


async def render_result(
    app: AppContext,
    progress: BakeoffProgress,
    frame: Frame | None = None,
    *,
    pictured: bool = False,
) -> BakeoffResult:
    """Return the result as posts, for a room if there is a frame; without a board if that fails.

    A bake-off of several methods has their comparison in place of a leaderboard, which would count
    each question several times.
    """
    bakeoff = progress.bakeoff
    if bakeoff.panel.trial:
        return BakeoffResult(trial_thread(await load_tried(app, progress), frame))
    try:
        board = await bakeoff_leaderboard(app, bakeoff)
        news = None
        if frame and progress.is_complete and await is_news(app, bakeoff, board.changes):
            news = _news_post(progress, board, frame)
        failures = {one.number: one.why for one in progress.failed}
        methods = methods_post((await bakeoff_matrix(app, bakeoff, failures))[0])
        picture = b""
        if pictured and board.board.rows and not methods:
            picture = await asyncio.to_thread(render_leaderboard_png, board)
    # People paid for the rounds, so they get the rest even if the leaderboard has a bug.
    except Exception as error:  # noqa: BLE001
        log_unexpected_error("board_failed", error, bakeoff_id=bakeoff.id)
        if frame:
            return BakeoffResult(room_result_thread(progress, frame, None))
        return BakeoffResult(result_thread(progress, None))
    if frame:
        return BakeoffResult(room_result_thread(progress, frame, board, methods, picture), news)
    shown = leaderboard_thread(board, picture) if board.board.rows else None
    return BakeoffResult(result_thread(progress, Thread(methods) if methods else shown), news)


async def is_news(app: AppContext, bakeoff: Bakeoff, changes: Changes | None) -> bool:
    """Return whether a scheduled run has other news than the last one that was told.

    It is remembered with its run, so that a run whose posting was interrupted tells its news.
    """
    if not bakeoff.schedule or changes is None:
        return False
    told = await app.key_values.read(TOLD, bakeoff.schedule)
    by, signature = json.loads(told) if told else ("", [])
    if [*changes.signature] == signature and by != bakeoff.id:
        return False
    news = json.dumps([bakeoff.id, changes.signature])
    await app.key_values.put(TOLD, bakeoff.schedule, news)
    return changes.is_news


def _news_post(progress: BakeoffProgress, board: Leaderboard, frame: Frame) -> Post | None:
    """Return what changed, as a post to the schedule's subscribers; None if nothing did."""
    bakeoff, schedule, changes = progress.bakeoff, frame.schedule, board.changes
    if not bakeoff.schedule or not changes or not changes.is_news:
        return None
    title = schedule.name if schedule else bakeoff_title(bakeoff)
    subscribers = schedule.subscribers if schedule and changes.is_worse else ()
    return changes_post(
        changes,
        board.names,
        title,
        subscribers,
        frame.buttons(progress),
        [*missing_lines(board)],
    )


async def load_frame(app: AppContext, chat: Chat, bakeoff: Bakeoff) -> Frame | None:
    """Return what surrounds a bake-off's posts in a room; None elsewhere.

    It has no schedule if none ran the bake-off, or if that was removed.
    """
    if not chat.is_room:
        return None
    schedule = None
    with suppress(StoreError):  # the result is posted without its schedule then
        schedules = await bakeoff_stores(app).schedules.list_all() if bakeoff.schedule else ()
        schedule = next((one for one in schedules if one.id == bakeoff.schedule), None)
    return Frame(app.now(), schedule)
