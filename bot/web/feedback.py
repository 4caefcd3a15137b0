"""What visitors think of a round: two buttons under its answer, and a reason where it failed."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.commands.rounds import Opinion, own_feedback, rate
from bot.web.asking import FormError, own_form
from bot.web.site import Site
from bot.web.visitors import visitor_of
from council.feedback import Feedback
from council.rounds import Round

_HELPFUL = {"yes": True, "no": False}


async def rated(site: Site, request: Request) -> Response:
    """Keep what a visitor thinks of a round they may read, and go back to its page."""
    form = await own_form(site, request)
    round_ = await site.round_(request)
    helpful = _HELPFUL.get(str(form.get("helpful", "")))
    if helpful is None:
        raise FormError("Say whether it helped: press Helpful or Not helpful.", 400)
    opinion = Opinion(helpful, str(form.get("reason", "")))
    await rate(site.desk, round_, visitor_of(request).asker.id, opinion)
    return RedirectResponse(f"/rounds/{round_.id}#feedback", status_code=303)


def may_rate(site: Site, request: Request, round_: Round) -> bool:
    """Say whether the page asks what its visitor thinks: not by a link alone, nor without texts."""
    by_link = "key" in request.query_params or not site.knows(request)
    return not (by_link or round_.forgotten or round_.closing is None)


async def said_before(site: Site, request: Request, round_: Round) -> Feedback | None:
    """Give what the visitor has said of the round."""
    return await own_feedback(site.desk, round_.id, visitor_of(request).asker.id)
