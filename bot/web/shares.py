"""Share links: signed, expiring and revocable; only a digest of each key is stored."""

from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.render.round_report.thread import round_title
from bot.web.auth import REVOKED_LINK, SHARES, Form, FormError, link_name, visitor_of
from bot.web.context import WebContext, is_member
from council.providers import is_loopback
from council.rounds import Round

SHARE_DAYS = (30, 1, 7, 90)  # the first is the default
MAX_SHARES = 20  # active links of one round
_DAY_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True)
class Shareable:
    """What a link opens: its id among links, its page, and the page that the link opens.

    `name` is what people call it, `contents` what a reader of the link sees.
    """

    id: str
    page: str
    opens: str
    title: str
    name: str
    contents: str


def _shareable_round(round_: Round) -> Shareable:
    page = f"/rounds/{quote(round_.id, safe='')}"
    contents = "this question, its answers and its rankings"
    return Shareable(round_.id, page, page, round_title(round_), "answer", contents)


# --- Of a round


async def share_page(context: WebContext, request: Request) -> Response:
    """Show the active links of a round, and a form that creates one."""
    return await show_links(context, request, await _load_own_round(context, request))


async def create_share(context: WebContext, request: Request, form: Form) -> Response:
    """Create a link and show it, once; raise FormError if the round has too many."""
    return await create_link(context, request, await _load_own_round(context, request), form)


async def revoke_share(context: WebContext, request: Request, form: Form) -> Response:
    """Revoke a link for every process, and redirect to those that are left."""
    return await revoke_link(context, await _load_own_round(context, request), form)


def may_share(context: WebContext, request: Request, round_: Round) -> bool:
    """Return whether the visitor may share a round: its asker, an admin, or a page's only user."""
    if round_.forgotten or not is_member(context, request):
        return False
    asker = visitor_of(request).asker
    is_admin = context.app.access.at(round_.question.place).is_admin(asker)
    return is_admin or not context.token or asker.id == round_.question.asked_by


async def _load_own_round(context: WebContext, request: Request) -> Shareable:
    round_ = await context.load_round(request)
    if not may_share(context, request, round_):
        raise FormError("Only the person who asked this question, or an admin, can share it.", 403)
    return _shareable_round(round_)


# --- Of anything


async def create_link(
    context: WebContext, request: Request, shared: Shareable, form: Form
) -> Response:
    """Create a link and show it, once; raise FormError if there are too many."""
    if form["days"] not in map(str, SHARE_DAYS):
        raise FormError("Choose how long the link works, on the page that you share.", 400)
    if len(await _active_links(context, shared.id)) >= MAX_SHARES:
        raise FormError(f"There are {MAX_SHARES} active links. Revoke one first.", 422)
    key = await issue_share(context, shared.id, int(form["days"]))
    link = f"{str(request.base_url).removesuffix('/')}{shared.opens}?key={key}"
    return await show_links(context, request, shared, link, link_name(shared.id, key))


async def revoke_link(context: WebContext, shared: Shareable, form: Form) -> Response:
    """Revoke a link for every process, and redirect to those that are left."""
    name = form["link"]
    if name.startswith(f"{shared.id}/"):
        await context.app.key_values.pop(SHARES, name)
    return RedirectResponse(f"{shared.page}/share", status_code=303)


async def issue_share(context: WebContext, id_: str, days: int = SHARE_DAYS[0]) -> str:
    """Store a new link and return its key."""
    key = context.signer.link_key(id_, days * _DAY_SECONDS)
    expires = context.signer.verify_link(id_, key)
    await context.app.key_values.put(SHARES, link_name(id_, key), str(expires))
    return key


async def check_link(context: WebContext, request: Request, id_: str) -> None:
    """Raise FormError unless a request has the key of an active link."""
    key = request.query_params.get("key", "")
    context.signer.verify_link(id_, key)
    if await context.app.key_values.read(SHARES, link_name(id_, key)) is None:
        raise FormError(REVOKED_LINK, 410)


async def _active_links(context: WebContext, id_: str) -> list[tuple[str, datetime]]:
    """Return the name and expiry of each link that works, the last to expire first."""
    stored = await context.app.key_values.list_texts(SHARES, f"{id_}/")
    links = sorted(((float(text), name) for name, text in stored.items()), reverse=True)
    now = context.signer.now()
    return [(name, datetime.fromtimestamp(at, UTC)) for at, name in links if at >= now]


async def show_links(
    context: WebContext, request: Request, shared: Shareable, link: str = "", made: str = ""
) -> Response:
    """Show the active links, a form that creates one, and a new `link`, once."""
    return await context.render_page(
        request,
        "share.html",
        shared=shared,
        link=link,
        made=made,
        links=await _active_links(context, shared.id),
        days=SHARE_DAYS,
        is_loopback=is_loopback(request.url.hostname or ""),
    )
