"""The Starlette application: routes, middleware and error page."""

from collections.abc import Awaitable, Callable, Sequence

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
from bot.bakeoffs.web import bakeoffs, matrix, reports, schedules, suites
from bot.chats import ChatRoute
from bot.commands.rounds import FeedbackError
from bot.observability import logs
from bot.web import api, connect, events, health, keys, legal, login, round_list, rounds, shares
from bot.web.api_requests import API
from bot.web.auth import Form, FormError, TooManyRequestsError, read_form
from bot.web.context import STATIC, WebContext
from bot.web.limits import BodyLimitMiddleware
from bot.web.mcp import McpEndpoint
from bot.web.middleware import (
    GateMiddleware,
    SecurityHeadersMiddleware,
    TrustedHostsMiddleware,
)
from council.errors import BakeoffError, CouncilError, RoundNotFoundError, SuiteError

Handler = Callable[[WebContext, Request], Awaitable[Response]]
FormHandler = Callable[[WebContext, Request, Form], Awaitable[Response]]

_LOOPBACK = ["127.0.0.1", "localhost", "[::1]", "::1"]
_INTERNAL_ERROR = 500
_HTTP_ERRORS = {
    404: "There is no such page.",
    405: "There is nothing to read at this address. Start from the home page.",
}


def create_app(
    context: WebContext, *, loopback: bool = True, routes: Sequence[ChatRoute] = ()
) -> Starlette:
    """Return the application; with `loopback` it answers only to the names of the loopback address.

    `routes` are those of the chats.
    """

    def route(path: str, handler: Handler, method: str) -> Route:
        async def handle(request: Request) -> Response:
            try:
                return await handler(context, request)
            # The outermost handler of a page: Starlette's own would omit the middleware's headers.
            except Exception as error:  # noqa: BLE001
                return await handle_error(request, error)

        return Route(path, handle, methods=[method])

    def form_route(path: str, handler: FormHandler) -> Route:
        async def handle(context: WebContext, request: Request) -> Response:
            return await handler(context, request, await read_form(context.signer, request))

        return route(path, handle, "POST")

    async def handle_error(request: Request, error: Exception) -> Response:
        if request.scope["path"].startswith(API):
            return api.error_response(error, context.app.now)
        return await _error_page(context, request, error)

    hosts = _LOOPBACK if loopback else ["*"]
    return Starlette(
        routes=[
            *(route(path, handler, "GET") for path, handler in _GET.items()),
            *(form_route(path, handler) for path, handler in _FORMS.items()),
            route("/v1/chat/completions", api.complete_chat, "POST"),
            *routes,
            Route("/mcp", McpEndpoint(context), methods=["POST"]),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        middleware=[
            Middleware(SecurityHeadersMiddleware),
            Middleware(GateMiddleware, context=context, refuse=handle_error, chat_routes=routes),
            Middleware(
                BodyLimitMiddleware, max_bytes={route.path: route.max_bytes for route in routes}
            ),
            Middleware(
                TrustedHostsMiddleware,
                allowed_hosts=hosts,
                public=[route.path for route in routes],
            ),
            Middleware(GZipMiddleware, minimum_size=1000),
        ],
        exception_handlers={HTTPException: handle_error},
    )


async def _error_page(context: WebContext, request: Request, error: Exception) -> Response:
    status, sentence = _status_and_sentence(error)
    if status == _INTERNAL_ERROR:
        reference = logs.log_unexpected_error("page_failed", error)
        sentence = f"{reference} Nothing that was saved is lost."
    headers = {}
    if isinstance(error, TooManyRequestsError):
        headers = {"Retry-After": str(error.retry_seconds)}
        if "text/html" not in request.headers.get("accept", ""):
            shape = {"message": sentence, "type": "rate_limit_exceeded", "code": status}
            return JSONResponse({"error": shape}, status, headers)
    # Without the list of rounds: the database may be the cause of the error.
    page = await context.render_page(
        request, "refused.html", status=status, sentence=sentence, lines=None
    )
    page.headers.update(headers)
    return page


def _status_and_sentence(error: Exception) -> tuple[int, str]:
    if isinstance(error, HTTPException):
        return error.status_code, _HTTP_ERRORS.get(error.status_code, str(error.detail))
    if not isinstance(error, CouncilError):
        return _INTERNAL_ERROR, ""
    statuses = {
        RoundNotFoundError: 404,
        BakeoffError: 404,
        NotYoursError: 403,
        FeedbackError: 422,
        LeaderboardQueryError: 422,
        SuiteError: 422,
    }
    default = error.status if isinstance(error, FormError) else 503
    return statuses.get(type(error), default), str(error)


_GET: dict[str, Handler] = {
    "/": rounds.front_page,
    "/rounds": round_list.rounds_page,
    "/rounds/{id}/forget": round_list.confirm_forget,
    "/rounds/{id}": rounds.round_page,
    "/rounds/{id}/events": events.round_events,
    "/rounds/{id}/state": events.round_state,
    "/rounds/{id}/round.json": rounds.download_json,
    "/rounds/{id}/round.md": rounds.download_markdown,
    "/rounds/{id}/files/{number:int}": rounds.download_file,
    "/rounds/{id}/beside": rounds.prior_page,
    "/rounds/{id}/share": shares.share_page,
    "/schedules": schedules.schedules_page,
    "/schedules/next": schedules.next_runs,
    "/bakeoffs": bakeoffs.bakeoffs_page,
    "/bakeoffs/{id}": matrix.bakeoff_page,
    "/bakeoffs/{id}/vote": bakeoffs.vote_page,
    "/bakeoffs/{id}/rows": matrix.matrix_rows,
    "/bakeoffs/{id}/cells/{number:int}/{seat:int}": matrix.cell_page,
    "/bakeoffs/{id}/bakeoff.{format}": matrix.download_bakeoff,
    "/bakeoffs/{id}/events": events.bakeoff_events,
    "/bakeoffs/{id}/state": events.bakeoff_state,
    "/leaderboard": reports.leaderboard_page,
    "/leaderboard.{format}": reports.download_leaderboard,
    "/bias": reports.bias_page,
    "/bias.{format}": reports.download_bias,
    "/suites": suites.suites_page,
    "/suites/{name}": suites.suite_page,
    "/suites/{name}/edit": suites.edit_suite_page,
    "/suites/{name}/suite.csv": suites.download_suite_csv,
    "/connect": connect.connect_page,
    "/panels": connect.panels_page,
    "/panels/{name}": connect.panel_page,
    "/keys": keys.keys_page,
    "/v1/models": api.list_models,
    "/login": login.login_page,
    **dict.fromkeys(legal.LEGAL_PATHS, legal.legal_page),
    "/healthz": health.health,
    "/readyz": health.readiness,
    "/metrics": health.metrics,
}
_FORMS: dict[str, FormHandler] = {
    "/ask": rounds.ask,
    "/rounds/{id}/again": rounds.ask_again,
    "/rounds/{id}/forget": round_list.forget,
    "/rounds/{id}/resume": rounds.resume_round,
    "/rounds/{id}/stop": rounds.stop_round,
    "/rounds/{id}/feedback": rounds.rate_round,
    "/rounds/{id}/vote": rounds.vote,
    "/rounds/{id}/share": shares.create_share,
    "/rounds/{id}/share/revoke": shares.revoke_share,
    "/schedules": schedules.add_schedule,
    "/schedules/{id}/{act}": schedules.change_schedule,
    "/bakeoffs": bakeoffs.propose_bakeoff,
    "/bakeoffs/begin": bakeoffs.start_bakeoff,
    "/bakeoffs/{id}/vote": bakeoffs.vote,
    "/bakeoffs/{id}/cancel": bakeoffs.cancel_bakeoff,
    "/bakeoffs/{id}/resume": bakeoffs.resume_bakeoff,
    "/rounds/{id}/suite": suites.add_round_to_suite,
    "/suites": suites.add_suite,
    "/suites/{name}/edit": suites.edit_suite,
    "/suites/{name}/remove": suites.remove_suite,
    "/press/{action}": suites.press_button,
    "/connect": connect.check_connection,
    "/panels": connect.save_panel,
    "/keys": keys.create_key,
    "/keys/{name}/revoke": keys.revoke_key,
    "/login": login.log_in,
}
