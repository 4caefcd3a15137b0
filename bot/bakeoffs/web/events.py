"""Server-sent events of running bake-offs, and their state for polling."""

from contextlib import nullcontext
from functools import partial

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bot.bakeoffs.lifecycle import is_bakeoff_running, load_progress, watch_bakeoff
from bot.bakeoffs.render.bakeoffs import running_post
from bot.bakeoffs.web.bakeoffs import load_bakeoff
from bot.web.context import WebContext
from bot.web.events import Payload, stream_states
from council.bakeoffs.models import BakeoffProgress


async def bakeoff_events(context: WebContext, request: Request) -> Response:
    """Stream the state of a bake-off until it ends or is stopped."""
    bakeoff = await load_bakeoff(context, request)
    subscription = nullcontext(watch_bakeoff(context.app, bakeoff))
    return stream_states(subscription, partial(bakeoff_payload, context), bakeoff_id=bakeoff.id)


async def bakeoff_state(context: WebContext, request: Request) -> Response:
    """Return the state of a bake-off once, for browsers that cannot keep a stream open."""
    bakeoff = await load_bakeoff(context, request)
    stopped = not await is_bakeoff_running(context.app, bakeoff)
    progress = await load_progress(context.app, bakeoff)
    return JSONResponse(bakeoff_payload(context, progress) | {"stopped": stopped})


def bakeoff_payload(context: WebContext, progress: BakeoffProgress) -> Payload:
    """Return what a page shows of a running bake-off; if it is `closed`, the page reloads."""
    post = running_post(progress, "")
    bakeoff = progress.bakeoff
    return {
        "closed": bakeoff.ending is not None,
        "summary": post.summary,
        "seconds": round((context.app.now() - bakeoff.at).total_seconds(), 1),
        "progress": context.site.render("progress.html", progress=post),
        "draft": "",
        "over": progress.over,
    }
