"""Pages that directories of apps ask for: privacy and terms, open to everybody."""

from starlette.requests import Request
from starlette.responses import Response

from bot.render.round_status import receivers
from bot.web.context import WebContext

LEGAL_PATHS = PRIVACY, TERMS = "/privacy", "/terms"


async def legal_page(context: WebContext, request: Request) -> Response:
    """Show the page of the path, without anything of the visitor's own."""
    app = context.app
    return await context.render_page(
        request,
        f"{request.scope['path'][1:]}.html",
        known=False,
        lines=(),
        contact=context.contact,
        destinations=tuple(dict.fromkeys(map(receivers, app.panels.values()))),
        texts_days=app.texts_days,
        stored=[one.template for one in context.site.fragments if one.spot == "privacy.stored"],
    )
