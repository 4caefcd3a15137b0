"""What a page hears of a bake-off under way: server-sent events, each the whole state as HTML."""

from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from bot.bakeoffs.lifecycle import is_held, standing, watching
from bot.observability import logs
from bot.render.bakeoffs import running_post
from bot.web.bakeoffs import bakeoff_asked
from bot.web.events import RETRY_MILLISECONDS, event_text, or_silence
from bot.web.site import Site, fragment
from council.bakeoffs.models import Bakeoff, Progress
from council.errors import CouncilError


def told(site: Site, progress: Progress) -> dict[str, object]:
    """Give what a page shows of progress; `closed` tells it to fetch the whole page."""
    post = running_post(progress, "")
    bakeoff = progress.bakeoff
    return {
        "closed": bakeoff.ending is not None,
        "summary": post.summary,
        "seconds": round((site.desk.now() - bakeoff.at).total_seconds(), 1),
        "progress": fragment("bakeoff_progress.html", progress=post),
        "draft": "",
    }


async def events(site: Site, request: Request) -> Response:
    """Tell how a bake-off goes on, until it is over or stopped."""
    bakeoff = await bakeoff_asked(site, request)
    return StreamingResponse(
        _stream(site, bakeoff),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def state(site: Site, request: Request) -> Response:
    """Tell once how a bake-off stands, for pages that cannot hold a stream open."""
    bakeoff = await bakeoff_asked(site, request)
    stopped = not await is_held(site.desk, bakeoff)
    return JSONResponse(told(site, await standing(site.desk, bakeoff)) | {"stopped": stopped})


async def _stream(site: Site, bakeoff: Bakeoff) -> AsyncIterator[str]:
    yield f"retry: {RETRY_MILLISECONDS}\n\n"
    try:
        async for progress in or_silence(watching(site.desk, bakeoff)):
            shown = event_text("state", told(site, progress)) if progress else None
            yield shown or ": still here\n\n"
    except CouncilError as error:
        yield event_text("stopped", {"why": str(error)})
    # The outermost handler of a stream: its headers are sent, so the page is told in it.
    except Exception as error:  # noqa: BLE001
        why = logs.unforeseen("stream_failed", error, bakeoff_id=bakeoff.id)
        yield event_text("stopped", {"why": why})
    else:
        yield event_text("end", {})
