"""What a page hears of a round under way: server-sent events, each the whole state as HTML."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import lru_cache
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from bot.bakeoffs.lifecycle import is_held, standing, watching
from bot.observability import logs
from bot.ports import RoundSnapshot
from bot.render.bakeoffs import running_post
from bot.render.round_status import progress_post
from bot.web.bakeoffs import bakeoff_asked
from bot.web.context import WebContext, fragment
from council.bakeoffs.models import Bakeoff, Progress
from council.errors import CouncilError

# --- What a page hears of a round under way: server-sent events, each the whole state as HTML.

Seen = TypeVar("Seen")

HEARTBEAT_SECONDS = 15.0
RETRY_MILLISECONDS = 1000


@lru_cache(maxsize=256)  # a sight is shown to many pages
def told(sight: RoundSnapshot) -> dict[str, object]:
    """Give what a page shows of a sight; `closed` tells it to fetch the whole round."""
    post = progress_post(sight.round_, sight.seconds)
    return {
        "closed": sight.round_.closing is not None,
        "summary": post.summary,
        "seconds": round(sight.seconds, 1),
        "progress": fragment("progress.html", progress=post),
        "draft": fragment("draft.html", draft=sight.draft) if sight.draft else "",
    }


async def events(site: WebContext, request: Request) -> Response:
    """Tell how a round goes on, until it is closed or stopped."""
    round_ = await site.round_(request)
    return StreamingResponse(
        _stream(site, round_.id),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def state(site: WebContext, request: Request) -> Response:
    """Tell once how a round stands, for pages that cannot hold a stream open."""
    round_ = await site.round_(request)
    async with site.app.runner.subscribe(round_.id) as sights:
        sight = await anext(sights)
    stopped = not sight.round_.closing and not await site.app.runner.is_running(round_.id)
    return JSONResponse(told(sight) | {"stopped": stopped})


async def _stream(site: WebContext, round_id: str) -> AsyncIterator[str]:
    yield f"retry: {RETRY_MILLISECONDS}\n\n"
    try:
        async with site.app.runner.subscribe(round_id) as sights:
            async for sight in or_silence(sights):
                yield event_text("state", told(sight)) if sight else ": still here\n\n"
    except CouncilError as error:
        yield event_text("stopped", {"why": str(error)})
    # The outermost handler of a stream: its headers are sent, so the page is told in it.
    except Exception as error:  # noqa: BLE001
        why = logs.unforeseen("stream_failed", error, round_id=round_id)
        yield event_text("stopped", {"why": why})
    else:
        if not await site.app.runner.is_running(round_id):
            yield event_text("end", {})


def event_text(name: str, data: dict[str, object]) -> str:
    """Give one event as it is sent."""
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"


async def or_silence(
    sights: AsyncIterator[Seen], seconds: float = HEARTBEAT_SECONDS
) -> AsyncIterator[Seen | None]:
    """Give the sights, and None whenever there was none for a while."""
    following = asyncio.ensure_future(anext(sights, None))
    try:
        while True:
            done, _ = await asyncio.wait({following}, timeout=seconds)
            if not done:
                yield None
            elif sight := following.result():
                yield sight
                following = asyncio.ensure_future(anext(sights, None))
            else:
                return
    finally:
        following.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await following


# --- What a page hears of a bake-off under way: server-sent events, each the whole state as HTML.


def bakeoff_payload(site: WebContext, progress: Progress) -> dict[str, object]:
    """Give what a page shows of progress; `closed` tells it to fetch the whole page."""
    post = running_post(progress, "")
    bakeoff = progress.bakeoff
    return {
        "closed": bakeoff.ending is not None,
        "summary": post.summary,
        "seconds": round((site.app.now() - bakeoff.at).total_seconds(), 1),
        "progress": fragment("bakeoff_progress.html", progress=post),
        "draft": "",
    }


async def bakeoff_events(site: WebContext, request: Request) -> Response:
    """Tell how a bake-off goes on, until it is over or stopped."""
    bakeoff = await bakeoff_asked(site, request)
    return StreamingResponse(
        _bakeoff_stream(site, bakeoff),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def bakeoff_state(site: WebContext, request: Request) -> Response:
    """Tell once how a bake-off stands, for pages that cannot hold a stream open."""
    bakeoff = await bakeoff_asked(site, request)
    stopped = not await is_held(site.app, bakeoff)
    return JSONResponse(
        bakeoff_payload(site, await standing(site.app, bakeoff)) | {"stopped": stopped}
    )


async def _bakeoff_stream(site: WebContext, bakeoff: Bakeoff) -> AsyncIterator[str]:
    yield f"retry: {RETRY_MILLISECONDS}\n\n"
    try:
        async for progress in or_silence(watching(site.app, bakeoff)):
            shown = event_text("state", bakeoff_payload(site, progress)) if progress else None
            yield shown or ": still here\n\n"
    except CouncilError as error:
        yield event_text("stopped", {"why": str(error)})
    # The outermost handler of a stream: its headers are sent, so the page is told in it.
    except Exception as error:  # noqa: BLE001
        why = logs.unforeseen("stream_failed", error, bakeoff_id=bakeoff.id)
        yield event_text("stopped", {"why": why})
    else:
        yield event_text("end", {})
