"""The page of a round with the leaderboard before it as a prior."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bot.render.round_report.thread import round_title
from bot.research.services import make_prior_post
from bot.web.auth import FormError
from bot.web.context import WebContext
from bot.web.pages import Fragment, Pages
from bot.web.rounds import may_use_result
from council.rounds import Round


async def prior_page(context: WebContext, request: Request) -> Response:
    """Show a closed round with the leaderboard as prior; FormError for a visitor by link alone."""
    round_ = await context.load_round(request)
    if not may_use_result(context, request, round_):
        raise FormError(
            "Open this page without the share link to compare it with the leaderboard.", 403
        )
    post = await make_prior_post(context.app, round_)
    return await context.render_page(
        request, "prior.html", post_=post, round_=round_, title=round_title(round_)
    )


async def load_prior_link(
    context: WebContext, request: Request, round_: Round
) -> Mapping[str, Any] | None:
    """Return the values of the link to that page; None if the round has no result to compare."""
    return {} if may_use_result(context, request, round_) else None


PAGES = Pages(
    name="research",
    get={"/rounds/{id}/beside": prior_page},
    fragments=(Fragment("round.rankings", "prior_link.html", load_prior_link),),
    package="bot.research.web",
)
