"""Share links of rounds: signed, expiring and revocable; only a digest of each key is stored."""

from datetime import UTC, datetime
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.render.round_report.thread import round_title
from bot.web.auth import SHARES, Form, FormError, link_name, visitor_of
from bot.web.context import WebContext, is_member
from council.providers import is_loopback
from council.rounds import Round

SHARE_DAYS = (30, 1, 7, 90)  # the first is the default
MAX_SHARES = 20  # active links of one round
_DAY_SECONDS = 24 * 3600


async def share_page(context: WebContext, request: Request) -> Response:
    """Show the active links of a round, and a form that creates one."""
    return await _render(context, request, await _load_own_round(context, request))


async def create_share(context: WebContext, request: Request, form: Form) -> Response:
    """Create a link and show it, once; raise FormError if the round has too many."""
    round_ = await _load_own_round(context, request)
    if form["days"] not in map(str, SHARE_DAYS):
        raise FormError("Choose how long the link works, on the page of a round.", 400)
    if len(await _active_links(context, round_.id)) >= MAX_SHARES:
        raise FormError(f"This question has {MAX_SHARES} active links. Revoke one first.", 422)
    key = await issue_share(context, round_.id, int(form["days"]))
    link = f"{request.base_url}rounds/{quote(round_.id, safe='')}?key={key}"
    return await _render(context, request, round_, link, link_name(round_.id, key))


async def revoke_share(context: WebContext, request: Request, form: Form) -> Response:
    """Revoke a link for every process, and redirect to those that are left."""
    round_ = await _load_own_round(context, request)
    name = form["link"]
    if name.startswith(f"{round_.id}/"):
        await context.app.key_values.pop(SHARES, name)
    return RedirectResponse(f"/rounds/{quote(round_.id, safe='')}/share", status_code=303)


async def issue_share(context: WebContext, round_id: str, days: int = SHARE_DAYS[0]) -> str:
    """Store a new link of a round and return its key."""
    key = context.signer.link_key(round_id, days * _DAY_SECONDS)
    expires = context.signer.verify_link(round_id, key)
    await context.app.key_values.put(SHARES, link_name(round_id, key), str(expires))
    return key


def may_share(context: WebContext, request: Request, round_: Round) -> bool:
    """Return whether the visitor may share a round: its asker, an admin, or a page's only user."""
    if round_.forgotten or not is_member(context, request):
        return False
    asker = visitor_of(request).asker
    is_admin = context.app.access.at(round_.question.place).is_admin(asker)
    return is_admin or not context.token or asker.id == round_.question.asked_by


async def _load_own_round(context: WebContext, request: Request) -> Round:
    round_ = await context.load_round(request)
    if not may_share(context, request, round_):
        raise FormError("Only the person who asked this question, or an admin, can share it.", 403)
    return round_


async def _active_links(context: WebContext, round_id: str) -> list[tuple[str, datetime]]:
    """Return the name and expiry of each link that works, the last to expire first."""
    stored = await context.app.key_values.list_texts(SHARES, f"{round_id}/")
    links = sorted(((float(text), name) for name, text in stored.items()), reverse=True)
    now = context.signer.now()
    return [(name, datetime.fromtimestamp(at, UTC)) for at, name in links if at >= now]


async def _render(
    context: WebContext, request: Request, round_: Round, link: str = "", made: str = ""
) -> Response:
    return await context.render_page(
        request,
        "share.html",
        round_=round_,
        title=round_title(round_),
        link=link,
        made=made,
        links=await _active_links(context, round_.id),
        days=SHARE_DAYS,
        is_loopback=is_loopback(request.url.hostname or ""),
    )
