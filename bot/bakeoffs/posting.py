"""What a bake-off came to: its leaderboard, what changed since the runs before, and its rounds."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, replace

from bot.bakeoffs.leaderboard import LeaderboardQuery, changed, counted
from bot.bakeoffs.records import records_up_to_date
from bot.bakeoffs.registry import BakeoffContext, RunningBakeoff
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
from bot.observability.logs import unforeseen
from bot.outbox import ROOT, ROOT_AGAIN
from bot.render.bakeoffs import failure_post, result_thread, running_post, stopped_post, title_of
from bot.render.formatting import known_names
from bot.render.leaderboard import board_thread, picture_of
from bot.render.leaderboard_tables import Leaderboard
from bot.render.leaderboard_text import delta_post
from council.bakeoffs.models import Bakeoff, Progress, Schedule
from council.bakeoffs.ports import RecordQuery
from council.bakeoffs.records import PackedRecord
from council.errors import CouncilError
from council.ports import RoundQuery
from council.rounds import Round

# --- What a bake-off came to: its leaderboard, what changed since the runs before, and its rounds


@dataclass(frozen=True, slots=True)
class BakeoffResult:
    """What is told at the end; `news` is a message of its own, None where nothing changed."""

    thread: Thread
    news: Post | None = None


async def board_of(house: BakeoffContext, bakeoff: Bakeoff) -> Leaderboard:
    """Give the leaderboard of one bake-off's rounds, compared with the runs before it."""
    await records_up_to_date(house)
    now = await records_of(house, bakeoff)
    before = await _before(house, bakeoff)
    suite = bakeoff.suite
    sought = LeaderboardQuery(
        suite.name, suite.version, bakeoff.panel.name, scope=bakeoff.place.scope
    )
    names = known_names((*house.panels.values(), bakeoff.panel))
    board = await asyncio.to_thread(counted, now, sought, names)
    return replace(board, changes=await asyncio.to_thread(changed, now, before))


async def records_of(house: BakeoffContext, bakeoff: Bakeoff) -> Sequence[PackedRecord]:
    """Give the records of a bake-off's rounds."""
    return await house.bakeoff_stores.records.recent(RecordQuery(bakeoff=bakeoff.id))


async def _before(house: BakeoffContext, bakeoff: Bakeoff) -> Sequence[PackedRecord]:
    """Give the records of earlier runs of the same suite, in this version, by the same panel."""
    wanted = RecordQuery(
        scope=bakeoff.place.scope,
        suite=bakeoff.suite.name,
        suite_version=bakeoff.suite.version,
        panel=bakeoff.panel.name,
        before=bakeoff.at,
    )
    found = await house.bakeoff_stores.records.recent(wanted)
    return [record for record in found if record.bakeoff not in {"", bakeoff.id}]


async def result_of(
    house: BakeoffContext, progress: Progress, *, pictured: bool = False, linked: bool = False
) -> BakeoffResult:
    """Give the result as it is posted; a board that cannot be made costs nobody the rest."""
    bakeoff = progress.bakeoff
    try:
        board = await board_of(house, bakeoff)
        picture = await _picture(board) if pictured else b""
        news = await _news(house, bakeoff, board) if progress.is_whole else None
    # What was paid for must be told, whatever is wrong with how it is counted.
    except Exception as error:  # noqa: BLE001
        unforeseen("board_failed", error, bakeoff_id=bakeoff.id)
        return BakeoffResult(result_thread(progress, None, linked=linked))
    shown = board_thread(board, picture) if board.board.rows else None
    return BakeoffResult(result_thread(progress, shown, linked=linked), news)


async def _picture(board: Leaderboard) -> bytes:
    return await asyncio.to_thread(picture_of, board) if board.board.rows else b""


async def _news(house: BakeoffContext, bakeoff: Bakeoff, board: Leaderboard) -> Post | None:
    """Give what changed, for those who subscribed to its schedule; None where nothing did."""
    if not bakeoff.schedule or not board.changes or not board.changes.is_news:
        return None
    schedule = await _schedule(house, bakeoff)
    title = schedule.name if schedule else title_of(bakeoff)
    subscribers = schedule.subscribers if schedule else ()
    return delta_post(board.changes, board.names, title, subscribers)


async def failure_of(house: BakeoffContext, progress: Progress, why: str) -> Post:
    """Give why a bake-off ended early as a post of its own, as loud as news."""
    schedule = await _schedule(house, progress.bakeoff)
    return failure_post(progress, why, schedule.subscribers if schedule else ())


async def _schedule(house: BakeoffContext, bakeoff: Bakeoff) -> Schedule | None:
    """Give the schedule that a bake-off is of; None for one that is of none, or of one removed."""
    if not bakeoff.schedule:
        return None
    schedules = await house.bakeoff_stores.schedules.every()
    return next((one for one in schedules if one.id == bakeoff.schedule), None)


async def closed_rounds(house: BakeoffContext, bakeoff: Bakeoff) -> tuple[Round, ...]:
    """Give the rounds that are over, in the order of the suite."""
    lines = await house.store.recent(wanted=RoundQuery(bakeoff=bakeoff.id))
    there = {line.id for line in lines if line.seconds is not None}
    ids = map(bakeoff.round_id, range(1, len(bakeoff.suite.questions) + 1))
    return tuple([await house.store.load(id_) for id_ in ids if id_ in there])


def shares_in(round_: Round) -> dict[str, float]:
    """Give each ranked member's share in one round."""
    if not round_.tally or not round_.draw:
        return {}
    author_of = round_.draw.labels.author_of
    return {
        author_of(line.label): line.share
        for line in round_.tally.standings
        if line.share is not None
    }


# --- What a place is told of a bake-off: one message that shows how it goes, and then its result.

ALONE = "I could not post this where it was asked for, so only you see it (bake-off {id})."
NEWS, FAILED = "news", "failed"


class NullPoster:
    """Tells nobody: whoever wants to know looks for themselves."""

    async def begin(self) -> None:
        """Do nothing."""

    @asynccontextmanager
    async def kept_up(self, _: RunningBakeoff) -> AsyncIterator[None]:
        """Do nothing."""
        yield

    async def stop(self, progress: Progress, why: str) -> None:
        """Do nothing."""

    async def end(self, progress: Progress, *, is_cancelled: bool) -> None:
        """Do nothing."""


class BakeoffPoster:
    """Tells a bake-off's place; what cannot be told there is told to its starter alone."""

    def __init__(self, house: BakeoffContext, chat: Chat, progress: Progress) -> None:
        self._house = house
        self._chat = chat
        self._progress = progress
        self._bakeoff = progress.bakeoff
        self._asker = ""
        self._sent: SentMessage | None = None
        self._shown = ProgressUpdates(chat)

    async def begin(self) -> None:
        """Post the message; PostingForbiddenError where it cannot be, and nothing was begun."""
        self._asker = await self._chat.named(self._bakeoff.asked_by)
        try:
            self._sent = await self._send(ROOT, running_post(self._progress, self._asker))
        except (PostingForbiddenError, MessageGoneError) as error:
            if not self._progress.is_queued:
                raise PostingForbiddenError(str(error)) from None

    async def _send(self, part: int | str, post: Post) -> SentMessage:
        place = self._bakeoff.place
        return await self._house.outbox.send(self._chat, self._bakeoff.id, part, post, place)

    def kept_up(self, held: RunningBakeoff) -> AbstractAsyncContextManager[None]:
        """Keep the message up to date as long as the block lasts."""
        return self._shown.kept_up(self._keep_up(held))

    async def _keep_up(self, held: RunningBakeoff) -> None:
        """Edit the message on every change, as often as the chat bears."""
        if self._sent is None:
            return
        with held.watched() as heard:
            while await heard.get():
                await self._chat.turn(self._sent)
                while not heard.empty():  # the newest wins
                    heard.get_nowait()
                now = running_post(held.progress, self._asker)
                await self._shown.show(self._sent, now)

    async def stop(self, progress: Progress, why: str) -> None:
        """Say why it stands still, as well as can be: what failed first is what matters."""
        with suppress(CouncilError):
            if self._sent:
                await self._chat.edit(self._sent, stopped_post(progress, why))
            await self._send(_at(progress, FAILED), await failure_of(self._house, progress, why))

    async def end(self, progress: Progress, *, is_cancelled: bool) -> None:
        """Put the result where progress was shown, the rest under it, and news beside it.

        An end that nobody wanted is told in a message of its own.
        """
        result = await result_of(self._house, progress, pictured=self._chat.keeps_files)
        ending = progress.bakeoff.ending
        try:
            await self._tell(progress, result)
            if ending and ending.failure and not is_cancelled:
                post = await failure_of(self._house, progress, ending.failure)
                await self._send(_at(progress, FAILED), post)
        except NoThreadError:
            return  # the result stands; what is missing can be had with `show`
        except (PostingForbiddenError, MessageGoneError):
            await self._tell_alone(progress, result.thread.root)

    async def _tell(self, progress: Progress, result: BakeoffResult) -> None:
        sent, root = await self._rooted(result.thread.root)
        if result.news:
            await self._send(NEWS, result.news)
        place = replace(sent.place, thread=sent.place.thread or sent.message)
        pages = [page for post in result.thread.replies for page in self._pages(post)]
        for number, page in enumerate((*root[1:], *pages), start=1):
            part = _at(progress, number)
            await self._house.outbox.send(self._chat, self._bakeoff.id, part, page, place)
        await self._chat.settle(sent, root[0])

    def _pages(self, post: Post) -> tuple[Post, ...]:
        if any(isinstance(part, File) for part in post.parts):
            return (post,) if self._chat.keeps_files else ()
        return self._chat.pages(post)

    async def _rooted(self, root: Post) -> tuple[SentMessage, tuple[Post, ...]]:
        """Give the message that holds the result, the first of its pages."""
        pages = self._chat.pages(root)
        if self._sent is not None:
            with suppress(MessageGoneError):
                await self._chat.edit(self._sent, pages[0])
                return self._sent, pages
        return await self._send(ROOT_AGAIN, pages[0]), pages

    async def _tell_alone(self, progress: Progress, root: Post) -> None:
        line = Caution(ALONE.format(id=self._bakeoff.id))
        place = self._chat.private_place(self._bakeoff.asked_by, self._bakeoff.place)
        with suppress(PostingForbiddenError, MessageGoneError):  # then nobody is there to be told
            post = replace(root, parts=(line, *root.parts))
            for number, page in enumerate(self._chat.pages(post)):
                part = _at(progress, f"alone {number}")
                await self._house.outbox.send(self._chat, self._bakeoff.id, part, page, place)


def _at(progress: Progress, part: int | str) -> str:
    """Tell a part that is said at this end from what was said when it ended early before."""
    return f"{part}" if progress.is_whole else f"{progress.over} {part}"
