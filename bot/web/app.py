"""The Starlette application: routes, middleware and error page."""

from collections.abc import Sequence
from dataclasses import replace

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from bot.access import NotYoursError
from bot.chats import ChatRoute
from bot.commands.rounds import FeedbackError
from bot.observability import logs
from bot.web import (
    api,
    commands,
    decide,
    events,
    health,
    legal,
    login,
    models,
    round_list,
    rounds,
    shares,
)
from bot.web.api_errors import ApiError
from bot.web.api_requests import API
from bot.web.auth import FormError, TooManyRequestsError, read_form
from bot.web.context import CORE_TEMPLATES, STATIC, WebContext
from bot.web.limits import BodyLimitMiddleware
from bot.web.mcp import MCP, McpEndpoint
from bot.web.middleware import (
    ApiOriginsMiddleware,
    GateMiddleware,
    SecurityHeadersMiddleware,
    TrustedHostsMiddleware,
)
from bot.web.pages import FormHandler, Handler, NavigationLink, Pages, load_site
from council.errors import CouncilError, DecisionError, RoundNotFoundError

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

    Its pages are those of the core and of the active plug-ins. `routes` are those of the chats.
    """
    site = load_site(context.app.plugins, CORE_TEMPLATES, CORE_PAGES)
    context = replace(context, site=site)
    form_folders = frozenset(
        path.split("/")[1] for path in site.forms if path not in CORE_PAGES.forms
    )

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
        if request.scope["path"].startswith(API) or isinstance(error, ApiError):
            return api.error_response(error, context.app.now)
        return await _error_page(context, request, error)

    hosts = _LOOPBACK if loopback else ["*"]
    return Starlette(
        routes=[
            *(route(path, handler, "GET") for path, handler in site.get.items()),
            *(form_route(path, handler) for path, handler in site.forms.items()),
            route("/v1/chat/completions", api.complete_chat, "POST"),
            route("/v1/responses", api.create_response, "POST"),
            route(api.MESSAGES, api.refuse_messages, "POST"),
            *routes,
            Route(MCP, McpEndpoint(context), methods=["POST"]),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        middleware=[
            Middleware(SecurityHeadersMiddleware),
            Middleware(ApiOriginsMiddleware, origins=context.api_origins),
            Middleware(GateMiddleware, context=context, refuse=handle_error, chat_routes=routes),
            Middleware(
                BodyLimitMiddleware,
                max_bytes={route.path: route.max_bytes for route in routes},
                form_folders=form_folders,
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
    status, sentence = _status_and_sentence(context, error)
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


def _status_and_sentence(context: WebContext, error: Exception) -> tuple[int, str]:
    if isinstance(error, HTTPException):
        return error.status_code, _HTTP_ERRORS.get(error.status_code, str(error.detail))
    if not isinstance(error, CouncilError):
        return _INTERNAL_ERROR, ""
    default = error.status if isinstance(error, FormError) else 503
    return context.site.statuses.get(type(error), default), str(error)


CORE_PAGES = Pages(
    name="Council",
    get={
        "/": rounds.front_page,
        "/rounds": round_list.rounds_page,
        "/rounds.{format}": round_list.export_rounds,
        "/rounds/{id}/forget": round_list.confirm_forget,
        "/rounds/{id}/edit": rounds.edit_page,
        "/rounds/{id}/decide": decide.decide_page,
        "/rounds/{id}": rounds.round_page,
        "/rounds/{id}/events": events.round_events,
        "/rounds/{id}/state": events.round_state,
        "/rounds/{id}/round.json": rounds.download_json,
        "/rounds/{id}/round.md": rounds.download_markdown,
        "/rounds/{id}/files/{number:int}": rounds.download_file,
        "/rounds/{id}/share": shares.share_page,
        "/models": models.models_page,
        "/connect": models.moved("#connect"),
        "/panels": models.moved(""),
        "/panels/{name}": models.panel_page,
        "/keys": models.moved("#keys"),
        "/help": commands.help_page,
        "/v1/models": api.list_models,
        "/v1/models/{model:path}": api.show_model,
        "/v1/responses/{id}": api.show_response,
        "/login": login.login_page,
        **dict.fromkeys(legal.LEGAL_PATHS, legal.legal_page),
        "/healthz": health.health,
        "/readyz": health.readiness,
        "/metrics": health.metrics,
    },
    forms={
        "/ask": rounds.ask,
        "/rounds/{id}/again": rounds.ask_again,
        "/rounds/{id}/forget": round_list.forget,
        "/rounds/{id}/resume": rounds.resume_round,
        "/rounds/{id}/stop": rounds.stop_round,
        "/rounds/{id}/feedback": rounds.show_rated_round,
        "/rounds/{id}/vote": rounds.vote,
        "/rounds/{id}/decide": decide.decide,
        "/rounds/{id}/share": shares.create_share,
        "/rounds/{id}/share/revoke": shares.revoke_share,
        "/press/{action}": commands.press_button,
        "/connect": models.check_connection,
        "/panels": models.save_panel,
        "/keys": models.create_key,
        "/keys/{name}/revoke": models.revoke_key,
        "/login": login.log_in,
        "/theme": login.choose_theme,
    },
    statuses={RoundNotFoundError: 404, NotYoursError: 403, FeedbackError: 422, DecisionError: 422},
    navigation=(
        NavigationLink("New question", "New question", "/", 0),
        NavigationLink("Rounds", "Rounds", "/rounds", 10),
        NavigationLink("Models", "Models", "/models", 300),
        NavigationLink("Help", "Help", "/help", 400),
    ),
    hints={
        "QUESTION": ("New question", "/"),
        "rounds": ("Rounds", "/rounds"),
        "show {}": ("this round", "/rounds/{}"),
        "decide {}": ("Decide", "/rounds/{}/decide"),
        "forget {} yes": ("Delete this round", "/rounds/{}/forget"),
        "panel": ("Models", "/models"),
        "help": ("Help", "/help"),
    },
)
