"""Health checks for balancers: is the process alive, is it ready for work; and the metrics."""

import asyncio
from typing import TYPE_CHECKING

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bot.coordination.tasks import BackgroundTasks
from council.errors import CouncilError
from council.ports import KeyValueStore

if TYPE_CHECKING:
    from bot.web.context import WebContext

PROBE_SECONDS = 5.0
READY_TIMEOUT_SECONDS = 2.0  # shorter than the database's own timeout
DATABASE_SILENT = "The database does not answer."


class DatabaseProbe:
    """Finds out what is wrong with the database, at most once in PROBE_SECONDS."""

    def __init__(self) -> None:
        self._began = 0.0
        self._error: asyncio.Future[str] | None = None

    async def error(self, key_values: KeyValueStore, tasks: BackgroundTasks) -> str:
        """Return why nothing can be written, or ""."""
        loop = asyncio.get_running_loop()
        is_old = loop.time() - self._began >= PROBE_SECONDS
        if self._error is None or (self._error.done() and is_old):
            self._began, self._error = loop.time(), loop.create_future()
            # A background task, since a query must not be cancelled.
            tasks.start(_probe(key_values, self._error))
        await asyncio.wait([self._error], timeout=READY_TIMEOUT_SECONDS)
        return self._error.result() if self._error.done() else DATABASE_SILENT


async def _probe(key_values: KeyValueStore, result: "asyncio.Future[str]") -> None:
    try:
        await key_values.check_writable()
    except CouncilError as error:
        result.set_result(str(error))
    else:
        result.set_result("")
    finally:
        if not result.done():  # a bug, which the next probe may not meet
            result.set_result(DATABASE_SILENT)


async def health(_context: "WebContext", _request: Request) -> Response:
    """Return that the process is alive."""
    return JSONResponse({"status": "ok"})


async def readiness(context: "WebContext", request: Request) -> Response:
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


async def metrics(_context: "WebContext", _request: Request) -> Response:
    """Return the metrics for Prometheus."""
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)
