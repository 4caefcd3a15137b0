"""Pages that directories of apps ask for: privacy and terms, open to everybody."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bot.render.round_status import receivers
from bot.web.context import WebContext

LEGAL_PATHS = PRIVACY, TERMS = "/privacy", "/terms"


async def privacy_page(context: WebContext, request: Request) -> Response:
    """Show what is stored, who receives it, and how to delete it."""
    app = context.app
    destinations = dict.fromkeys(receivers(panel) for panel in app.panels.values())
    return await _page(
        context, request, PRIVACY, destinations=tuple(destinations), texts_days=app.texts_days
    )


async def terms_page(context: WebContext, request: Request) -> Response:
    """Show what the council is, and what it does not promise."""
    return await _page(context, request, TERMS)


async def _page(context: WebContext, request: Request, path: str, **values: Any) -> Response:  # noqa: ANN401
    """Render a page without anything of the visitor's own."""
    template, contact = f"{path[1:]}.html", context.contact
    return await context.render_page(
        request, template, known=False, lines=(), contact=contact, **values
    )
