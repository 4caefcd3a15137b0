"""The HTTP application: whether the bot is alive, and whether it can hold a round."""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.commands.desk import Desk
from council.errors import CouncilError


def web_app(desk: Desk) -> Starlette:
    """Give the application for one desk."""

    async def healthy(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(_: Request) -> Response:
        try:
            await desk.store.recent(1)
        except CouncilError as error:
            return JSONResponse({"status": "not ready", "why": str(error)}, status_code=503)
        return JSONResponse({"status": "ready", "panels": sorted(desk.panels)})

    return Starlette(routes=[Route("/healthz", healthy), Route("/readyz", ready)])
