"""Whether the bot is alive, whether it can hold a round, and its figures."""

import asyncio

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bot.web.site import Site
from council.errors import CouncilError

PATIENCE_SECONDS = 2.0  # whoever asks may not wait as long as the database is waited for
AWAY = "The database does not answer."


async def healthy(_site: Site, _request: Request) -> Response:
    """Say that the process answers."""
    return JSONResponse({"status": "ok"})


async def ready(site: Site, _request: Request) -> Response:
    """Say whether a round could be held: the database answers and the models are there."""
    if why := await _missing(site) or site.state():
        return JSONResponse({"status": "not ready", "why": why}, status_code=503)
    return JSONResponse({"status": "ready", "panels": sorted(site.desk.panels)})


async def _missing(site: Site) -> str:
    """Say what is the matter with the database; "" where it answers in time."""
    found: asyncio.Queue[str] = asyncio.Queue()
    site.doing.begin(_looked(site, found))  # what was begun there comes to its end
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await found.get()
    except TimeoutError:
        return AWAY


async def _looked(site: Site, found: "asyncio.Queue[str]") -> None:
    try:
        await site.desk.store.recent(1)
    except CouncilError as error:
        found.put_nowait(str(error))
    else:
        found.put_nowait("")


async def figures(_site: Site, _request: Request) -> Response:
    """Give the figures for a Prometheus server."""
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)
