"""What a place is told of a bake-off: one message that shows how it goes, and then its result."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import replace

from bot.bakeoffs.holds import Held
from bot.bakeoffs.house import House
from bot.bakeoffs.results import Result, failure_of, result_of
from bot.chat import (
    Caution,
    Chat,
    File,
    GoneError,
    NoThreadError,
    Post,
    Sent,
    Shown,
    UnwelcomeError,
)
from bot.outbox import ROOT, ROOT_AGAIN
from bot.render.bakeoffs import running_post, stopped_post
from council.bakeoffs.models import Progress
from council.errors import CouncilError

ALONE = "I could not post this where it was asked for, so only you see it (bake-off {id})."
NEWS, FAILED = "news", "failed"


class Silence:
    """Tells nobody: whoever wants to know looks for themselves."""

    async def begin(self) -> None:
        """Do nothing."""

    @asynccontextmanager
    async def kept_up(self, _: Held) -> AsyncIterator[None]:
        """Do nothing."""
        yield

    async def stop(self, progress: Progress, why: str) -> None:
        """Do nothing."""

    async def end(self, progress: Progress, *, is_cancelled: bool) -> None:
        """Do nothing."""


class Telling:
    """Tells a bake-off's place; what cannot be told there is told to its starter alone."""

    def __init__(self, house: House, chat: Chat, progress: Progress) -> None:
        self._house = house
        self._chat = chat
        self._progress = progress
        self._bakeoff = progress.bakeoff
        self._asker = ""
        self._sent: Sent | None = None
        self._shown = Shown(chat)

    async def begin(self) -> None:
        """Post the message; UnwelcomeError where it cannot be, and nothing was begun."""
        self._asker = await self._chat.named(self._bakeoff.asked_by)
        try:
            self._sent = await self._send(ROOT, running_post(self._progress, self._asker))
        except (UnwelcomeError, GoneError) as error:
            if not self._progress.is_begun:
                raise UnwelcomeError(str(error)) from None

    async def _send(self, part: int | str, post: Post) -> Sent:
        place = self._bakeoff.place
        return await self._house.outbox.send(self._chat, self._bakeoff.id, part, post, place)

    def kept_up(self, held: Held) -> AbstractAsyncContextManager[None]:
        """Keep the message up to date as long as the block lasts."""
        return self._shown.kept_up(self._keep_up(held))

    async def _keep_up(self, held: Held) -> None:
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
        except (UnwelcomeError, GoneError):
            await self._tell_alone(progress, result.thread.root)

    async def _tell(self, progress: Progress, result: Result) -> None:
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

    async def _rooted(self, root: Post) -> tuple[Sent, tuple[Post, ...]]:
        """Give the message that holds the result, the first of its pages."""
        pages = self._chat.pages(root)
        if self._sent is not None:
            with suppress(GoneError):
                await self._chat.edit(self._sent, pages[0])
                return self._sent, pages
        return await self._send(ROOT_AGAIN, pages[0]), pages

    async def _tell_alone(self, progress: Progress, root: Post) -> None:
        line = Caution(ALONE.format(id=self._bakeoff.id))
        place = self._chat.alone_with(self._bakeoff.asked_by, self._bakeoff.place)
        with suppress(UnwelcomeError, GoneError):  # then nobody is there to be told
            post = replace(root, parts=(line, *root.parts))
            for number, page in enumerate(self._chat.pages(post)):
                part = _at(progress, f"alone {number}")
                await self._house.outbox.send(self._chat, self._bakeoff.id, part, page, place)


def _at(progress: Progress, part: int | str) -> str:
    """Tell a part that is said at this end from what was said when it ended early before."""
    return f"{part}" if progress.is_whole else f"{progress.over} {part}"
