"""Whether the bot is alive, whether it can hold a round, and its figures."""

import asyncio
from collections.abc import Awaitable, Callable

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from bot.access import NotYoursError
from bot.bakeoffs.leaderboard import LeaderboardQueryError
from bot.commands.rounds import FeedbackError
from bot.observability import logs
from bot.web import bakeoffs, events
from bot.web import bakeoffs as schedules
from bot.web import bakeoffs as suites
from bot.web import events as bakeoff_events
from bot.web import reports as bias
from bot.web import reports as boards
from bot.web import rounds as asking
from bot.web import rounds as beside
from bot.web import rounds as feedback
from bot.web import rounds as pages
from bot.web import rounds as voting
from bot.web.auth import (
    SLACK_EVENTS,
    LinkError,
    SecurityHeadersMiddleware,
    TokenMiddleware,
    TrustedHostsMiddleware,
)
from bot.web.context import STATIC, WebContext
from bot.web.rounds import FormError
from council.errors import BakeoffError, CouncilError, RoundNotFoundError, SuiteError

# --- Whether the bot is alive, whether it can hold a round, and its figures.

PATIENCE_SECONDS = 2.0  # whoever asks may not wait as long as the database is waited for
AWAY = "The database does not answer."


async def healthy(_site: WebContext, _request: Request) -> Response:
    """Say that the process answers."""
    return JSONResponse({"status": "ok"})


async def ready(site: WebContext, _request: Request) -> Response:
    """Say whether a round could be held: the database answers and the models are there."""
    if why := await _missing(site) or site.state():
        return JSONResponse({"status": "not ready", "why": why}, status_code=503)
    return JSONResponse({"status": "ready", "panels": sorted(site.app.panels)})


async def _missing(site: WebContext) -> str:
    """Say what is the matter with the database; "" where it answers in time."""
    found: asyncio.Queue[str] = asyncio.Queue()
    site.doing.begin(_looked(site, found))  # what was begun there comes to its end
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await found.get()
    except TimeoutError:
        return AWAY


async def _looked(site: WebContext, found: "asyncio.Queue[str]") -> None:
    try:
        await site.app.store.recent(1)
    except CouncilError as error:
        found.put_nowait(str(error))
    else:
        found.put_nowait("")


async def figures(_site: WebContext, _request: Request) -> Response:
    """Give the figures for a Prometheus server."""
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


# --- The HTTP application: every route, and what stands before them.

Handler = Callable[[WebContext, Request], Awaitable[Response]]
Posted = Callable[[Request], Awaitable[Response]]

_LOOPBACK = ["127.0.0.1", "localhost", "[::1]", "::1"]
_SERVER_FAULT = 500
_SENTENCES = {
    404: "There is no such page.",
    405: "There is nothing to read at this address: start from the first page.",
}
_READ: dict[str, Handler] = {
    "/": pages.front,
    "/rounds": pages.rounds,
    "/rounds/{id}": pages.round_page,
    "/rounds/{id}/events": events.events,
    "/rounds/{id}/state": events.state,
    "/rounds/{id}/round.json": pages.as_json,
    "/rounds/{id}/round.md": pages.as_markdown_file,
    "/rounds/{id}/beside": beside.beside_page,
    "/schedules": schedules.schedules,
    "/bakeoffs": bakeoffs.bakeoffs,
    "/bakeoffs/{id}": bakeoffs.bakeoff_page,
    "/bakeoffs/{id}/events": bakeoff_events.bakeoff_events,
    "/bakeoffs/{id}/state": bakeoff_events.bakeoff_state,
    "/leaderboard": boards.leaderboard_page,
    "/leaderboard.csv": boards.as_csv,
    "/leaderboard.json": boards.as_json,
    "/leaderboard.png": boards.as_png,
    "/bias": bias.bias_page,
    "/bias.csv": bias.bias_as_csv,
    "/bias.json": bias.bias_as_json,
    "/bias.png": bias.bias_as_png,
    "/suites": suites.suites,
    "/suites/{name}": suites.suite_page,
    "/suites/{name}/suite.csv": suites.suite_file,
    "/login": asking.login,
    "/healthz": healthy,
    "/readyz": ready,
    "/metrics": figures,
}
_DONE: dict[str, Handler] = {
    "/ask": asking.asked,
    "/rounds/{id}/again": asking.asked_again,
    "/rounds/{id}/resume": asking.gone_on,
    "/rounds/{id}/stop": asking.stopped,
    "/rounds/{id}/feedback": feedback.rated,
    "/rounds/{id}/vote": voting.voted,
    "/schedules": schedules.schedule_added,
    "/schedules/{id}/{act}": schedules.done,
    "/bakeoffs": bakeoffs.proposal,
    "/bakeoffs/begin": bakeoffs.begun,
    "/bakeoffs/{id}/cancel": bakeoffs.cancelled,
    "/bakeoffs/{id}/resume": bakeoffs.gone_on,
    "/rounds/{id}/suite": suites.joined,
    "/suites": suites.added,
    "/suites/{name}/remove": suites.removed,
    "/press/{action}": suites.pressed,
    "/login": asking.let_in,
}


def web_app(site: WebContext, *, loopback: bool = True, slack: Posted | None = None) -> Starlette:
    """Give the application; on loopback it answers only to loopback's names.

    What is posted for Slack is handed to `slack`.
    """

    def route(path: str, handler: Handler, method: str) -> Route:
        async def handled(request: Request) -> Response:
            try:
                return await handler(site, request)
            # The outermost handler of a page; outside the middleware its headers would be missing.
            except Exception as error:  # noqa: BLE001
                return await refused(request, error)

        return Route(path, handled, methods=[method])

    async def refused(request: Request, error: Exception) -> Response:
        return await _refused(site, request, error)

    hosts = _LOOPBACK if loopback else ["*"]
    return Starlette(
        routes=[
            *(route(path, handler, "GET") for path, handler in _READ.items()),
            *(route(path, handler, "POST") for path, handler in _DONE.items()),
            *([Route(SLACK_EVENTS, slack, methods=["POST"])] if slack else []),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        middleware=[
            Middleware(SecurityHeadersMiddleware),
            Middleware(TrustedHostsMiddleware, allowed_hosts=hosts),
            Middleware(TokenMiddleware, token=site.token, seals=site.seals),
            Middleware(GZipMiddleware, minimum_size=1000),
        ],
        exception_handlers={HTTPException: refused},
    )


async def _refused(site: WebContext, request: Request, error: Exception) -> Response:
    """Say what went wrong in a sentence, on a page like the others."""
    status, sentence = _told(error)
    if status == _SERVER_FAULT:
        wrong = logs.unforeseen("page_failed", error)
        sentence = f"{wrong} Nothing that was saved is lost."
    # Without the list of rounds: it may be the database that is at fault.
    return await site.page(request, "refused.html", status=status, sentence=sentence, lines=())


def _told(error: Exception) -> tuple[int, str]:
    if isinstance(error, HTTPException):
        return error.status_code, _SENTENCES.get(error.status_code, str(error.detail))
    if not isinstance(error, CouncilError):
        return _SERVER_FAULT, ""
    kinds = {
        RoundNotFoundError: 404,
        BakeoffError: 404,
        NotYoursError: 403,
        LinkError: 403,
        FeedbackError: 422,
        LeaderboardQueryError: 422,
        SuiteError: 422,
    }
    own = error.status if isinstance(error, FormError) else 503
    return kinds.get(type(error), own), str(error)
