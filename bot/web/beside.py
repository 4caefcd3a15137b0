"""The page of a round with the leaderboard as prior: beside the count, on request."""

from starlette.requests import Request
from starlette.responses import Response

from bot.bakeoffs.leaderboard import beside
from bot.render.round_report import title_of
from bot.web.asking import FormError
from bot.web.feedback import may_rate
from bot.web.site import Site


async def beside_page(site: Site, request: Request) -> Response:
    """Give what the leaderboard would have said of a closed round; not by a link alone."""
    round_ = await site.round_(request)
    if not may_rate(site, request, round_):
        raise FormError("Only who may read the leaderboard sees what it says of a round.", 403)
    post = await beside(site.desk, round_)
    return await site.page(
        request, "beside.html", post_=post, round_=round_, title=title_of(round_)
    )
