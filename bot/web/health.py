"""Whether the bot is alive, whether it can hold a round, and its figures."""

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bot.web.site import Site
from council.errors import CouncilError


async def healthy(_site: Site, _request: Request) -> Response:
    """Say that the process answers."""
    return JSONResponse({"status": "ok"})


async def ready(site: Site, _request: Request) -> Response:
    """Say whether a round could be held: the database answers and the models are there."""
    try:
        await site.desk.store.recent(1)
    except CouncilError as error:
        return JSONResponse({"status": "not ready", "why": str(error)}, status_code=503)
    if state := site.state():
        return JSONResponse({"status": "not ready", "why": state}, status_code=503)
    return JSONResponse({"status": "ready", "panels": sorted(site.desk.panels)})


async def figures(_site: Site, _request: Request) -> Response:
    """Give the figures for a Prometheus server."""
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)
