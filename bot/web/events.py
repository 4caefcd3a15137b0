"""Server-sent events of running rounds, and their state for polling."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from functools import lru_cache, partial
from typing import TypeVar

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bot.observability import logs
from bot.ports import RoundSnapshot
from bot.render.voting import blind_answers, takes_blind_votes
from bot.web.context import WebContext, is_member
from bot.web.decide import decision_payload, decision_snapshots
from bot.web.pages import Site
from bot.web.round_view import blind_progress
from council.errors import CouncilError

T = TypeVar("T")
Payload = dict[str, object]

HEARTBEAT_SECONDS = 15.0
RETRY_MILLISECONDS = 1000


async def round_events(context: WebContext, request: Request) -> Response:
    """Stream the state of a round until it is closed or stopped."""
    round_ = await context.load_round(request)
    if running := context.app.decisions.get(round_.id):
        return stream_states(
            decision_snapshots(running), partial(decision_payload, context.site), round_id=round_.id
        )
    runner = context.app.runner
    subscription, is_running = runner.subscribe(round_.id), partial(runner.is_running, round_.id)
    payload = partial(round_payload, context.site, may_vote=is_member(context, request))
    return stream_states(subscription, payload, is_running, round_id=round_.id)


async def round_state(context: WebContext, request: Request) -> Response:
    """Return the state of a round once, for browsers that cannot keep a stream open."""
    round_ = await context.load_round(request)
    if running := context.app.decisions.get(round_.id):
        return JSONResponse(decision_payload(context.site, running.state))
    async with context.app.runner.subscribe(round_.id) as snapshots:
        snapshot = await anext(snapshots)
    is_running = await context.app.runner.is_running(round_.id)
    stopped = not snapshot.round_.closing and not is_running
    payload = round_payload(context.site, snapshot, may_vote=is_member(context, request))
    return JSONResponse(payload | {"stopped": stopped})


@lru_cache(maxsize=256)  # many browsers show the same snapshot
def round_payload(site: Site, snapshot: RoundSnapshot, *, may_vote: bool = False) -> Payload:
    """Return what a page shows of a running round; if it is `closed`, the page reloads."""
    round_, progress = snapshot.round_, blind_progress(snapshot.round_)
    cards = () if round_.closing else blind_answers(round_)
    shown = {"is_running": True, "takes_votes": may_vote and takes_blind_votes(round_)}
    return {
        "closed": round_.closing is not None,
        "summary": progress.summary,
        "seconds": snapshot.seconds and round(snapshot.seconds, 1),
        "progress": site.render("progress.html", progress=progress),
        "answers": [site.render("blind.html", card=card, **shown) for card in cards],
        "draft": site.render("draft.html", draft=snapshot.draft) if snapshot.draft else "",
    }


def stream_states(
    subscription: AbstractAsyncContextManager[AsyncIterator[T]],
    payload: Callable[[T], Payload],
    is_running: Callable[[], Awaitable[bool]] | None = None,
    **ids: str,
) -> Response:
    """Return a stream of events: `state` for each item, then `end`, or `stopped` with the reason.

    There is no `end` if `is_running` says that another stream would continue.
    """

    async def events() -> AsyncIterator[Payload]:
        yield {"retry": RETRY_MILLISECONDS}
        try:
            async with subscription as items:
                async for item in items:
                    yield _event("state", payload(item))
        except CouncilError as error:
            yield _event("stopped", {"why": str(error)})
        # The outermost handler of a stream: its headers are sent, so the error becomes an event.
        except Exception as error:  # noqa: BLE001
            why = logs.log_unexpected_error("stream_failed", error, **ids)
            yield _event("stopped", {"why": why})
        else:
            if is_running is None or not await is_running():
                yield _event("end", {})

    return event_stream(events(), HEARTBEAT_SECONDS)


def event_stream(events: AsyncIterator[Payload], heartbeat_seconds: float) -> Response:
    """Return a response that streams events, and a comment whenever there was none for a while."""
    return EventSourceResponse(
        events,
        sep="\n",
        ping=heartbeat_seconds,
        ping_message_factory=lambda: ServerSentEvent(comment="still here", sep="\n"),
    )


def _event(name: str, data: Payload) -> Payload:
    return {"event": name, "data": json.dumps(data)}
