"""Health checks for balancers: is the process alive, is it ready for work; and the metrics."""

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bot.web.context import WebContext


async def health(_context: WebContext, _request: Request) -> Response:
    """Return that the process is alive."""
    return JSONResponse({"status": "ok"})


async def readiness(context: WebContext, request: Request) -> Response:
    """Return whether a round could be run; only who may read the page learns names and reasons."""
    app = context.app
    why = (
        await context.database.error(app.key_values, context.tasks)
        or context.chats_not_ready()
        or context.state()
    )
    details = {"why": why} if why else {"panels": sorted(app.panels)}
    return JSONResponse(
        {"status": "not ready" if why else "ready"}
        | (details if context.is_authenticated(request) else {}),
        status_code=503 if why else 200,
    )


async def metrics(_context: WebContext, _request: Request) -> Response:
    """Return the metrics for Prometheus."""
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)
