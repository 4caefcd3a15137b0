"""Which answer visitors call the best: a small button beside each."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.commands.rounds import cast_vote, own_vote
from bot.web.asking import own_form
from bot.web.site import Site
from bot.web.visitors import visitor_of
from council.feedback import HumanVote
from council.rounds import Round


async def voted(site: Site, request: Request) -> Response:
    """Keep a visitor's vote on a round they may read, and go back to its answers."""
    form = await own_form(site, request)
    round_ = await site.round_(request)
    letter = str(form.get("label", ""))
    await cast_vote(site.desk, round_, visitor_of(request).asker.id, letter)
    return RedirectResponse(f"/rounds/{round_.id}#answers", status_code=303)


async def voted_before(site: Site, request: Request, round_: Round) -> HumanVote | None:
    """Give what the visitor has voted on the round."""
    return await own_vote(site.desk, round_.id, visitor_of(request).asker.id)
