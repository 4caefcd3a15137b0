"""Context of the page's handlers: templates, Markdown, who may read a round, file responses."""

import re
import secrets
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from bot.access import check_readable, listable_rounds
from bot.commands.button_registry import buttons_of
from bot.context import AppContext
from bot.coordination.database_probe import DatabaseProbe
from bot.coordination.tasks import BackgroundTasks
from bot.render.formatting import duration, money, ordinal, parse_time, seat_names, styled_runs
from bot.render.people import named_question
from bot.render.round_status import receivers
from bot.web.auth import (
    FORGOTTEN_LINK,
    REVOKED_LINK,
    SESSION_COOKIE,
    SHARES,
    VISITOR_COOKIE,
    FormError,
    PageSigner,
    bearer_of,
    empty_message,
    link_name,
    matches_token,
    place_of,
    set_cookie,
    visitor_of,
)
from bot.web.limits import PageLimits
from bot.web.markdown import render_markdown
from bot.web.pages import Pages, Site, merge_pages
from council.files import MAX_FILES, MAX_IMAGE_BYTES, MAX_TOTAL_BYTES, QuestionFile
from council.money import format_usd
from council.rounds import Round

MAX_OPTION_CHARACTERS = 200  # of a filter in an address
STATIC = Path(__file__).parent / "static"
MAX_SIDEBAR_ROUNDS = 30
MAX_KEPT = 8  # refused questions; the files of one have limits of their own
THEME_COOKIE = "council_theme"
THEMES = ("light", "dark")  # anything else follows the system
_FORM_KEY = re.compile(r"[0-9a-f]{10}")


@dataclass(slots=True)
class KeptFiles:
    """Files of the last refused questions, in memory, by a code that only their visitor can use."""

    _by_code: dict[tuple[str, str], tuple[QuestionFile, ...]] = field(default_factory=dict)

    def keep(self, visitor: str, files: tuple[QuestionFile, ...]) -> str:
        """Return the code of files that are kept from now on; forget the oldest ones."""
        code = secrets.token_urlsafe(12)
        self._by_code[visitor, code] = files
        while len(self._by_code) > MAX_KEPT:
            del self._by_code[next(iter(self._by_code))]
        return code

    def find(self, visitor: str, form: Mapping[str, str]) -> tuple[QuestionFile, ...]:
        """Return the kept files that are still chosen in a form."""
        files = self._by_code.get((visitor, form.get("kept", "")), ())
        return tuple(file for i, file in enumerate(files) if form.get(f"keep {i}"))


@dataclass(frozen=True, slots=True)
class WebContext:
    """What every handler works with: the application, the signer, and what the page says.

    `token` is None if the page is open to all. `state` returns what the models are still waiting
    for, or "" once they are ready. `failed_login_delay_seconds` delays the answer to a wrong token,
    against guessing. `chats_not_ready` returns which chat can't take its requests yet, or "".
    `tasks` continue after a response. `contact` says who runs this. Pages of `api_origins`
    may call the API from a browser. `kept_files` are those of refused questions. `site` has the
    pages: without those of `create_app`, only the core's templates.
    """

    app: AppContext
    signer: PageSigner
    token: str | None = None
    state: Callable[[], str] = str
    failed_login_delay_seconds: float = 0.5
    limits: PageLimits = field(default_factory=PageLimits)
    chats_not_ready: Callable[[], str] = str
    database: DatabaseProbe = field(default_factory=DatabaseProbe)
    tasks: BackgroundTasks = field(default_factory=BackgroundTasks)
    contact: str = ""
    api_origins: tuple[str, ...] = ()
    kept_files: KeptFiles = field(default_factory=KeptFiles)
    site: Site = field(default_factory=lambda: merge_pages(CORE_TEMPLATES))

    def is_authenticated(self, request: Request) -> bool:
        """Return whether the visitor has a session or the token, or needs neither."""
        session = request.cookies.get(SESSION_COOKIE, "")
        return (
            not self.token
            or self.signer.is_session_token(session)
            or matches_token(bearer_of(request), self.token)
        )

    def form_key(self, form: Mapping[str, str]) -> str:
        """Return the key of a form: its page's, so that sending it twice does it once, or new."""
        key = form["round"]
        return key if _FORM_KEY.fullmatch(key) else self.app.new_id()

    async def render_page(
        self,
        request: Request,
        template: str,
        status: int = 200,
        **values: Any,  # noqa: ANN401
    ) -> Response:
        """Render a template within the frame that all pages share; set a new visitor's cookie."""
        visitor = visitor_of(request)
        place = place_of(visitor)
        is_known = self.is_authenticated(request)
        if "lines" not in values:  # a page that passes its own works without the database
            await self.app.reload_settings(place)
            # A visitor with only a signed link does not see others' questions.
            wanted = listable_rounds(empty_message(request))
            listed = self.app.store.list_summaries
            values["lines"] = await listed(MAX_SIDEBAR_ROUNDS, wanted) if is_known else ()
        frame = {
            "form_token": self.signer.csrf_token(visitor.secret),
            "known": is_known,
            "panels": self.app.panels,
            "panel": self.app.picked_panel(place) or self.app.default,
            "new_key": self.app.new_id(),
            "key": request.query_params.get("key", ""),
            "current": "",
            "path": request.scope["path"],
            "address": _address_of(request),
            "options": request.query_params,
            "theme": theme if (theme := request.cookies.get(THEME_COOKIE)) in THEMES else "",
            "typed": "",
            "follows": "",
            "only_me": False,
            "navigation": self.site.navigation,
            "pressable": buttons_of(self.app).proposals,
        }
        html = self.site.render(template, **(frame | values))
        response = HTMLResponse(html, status)
        if visitor.is_new:
            set_cookie(response, request, VISITOR_COOKIE, self.signer.visitor_cookie(visitor))
        return response

    async def load_fragments(
        self, request: Request, round_: Round
    ) -> dict[str, list[tuple[str, Mapping[str, Any]]]]:
        """Return what plug-ins add to a round's page: by spot, templates and their values."""
        fragments: defaultdict[str, list[tuple[str, Mapping[str, Any]]]] = defaultdict(list)
        for fragment in self.site.fragments if is_member(self, request) else ():
            if fragment.load:
                values = await fragment.load(self, request, round_)
                if values is not None:
                    fragments[fragment.spot].append((fragment.template, values))
        return fragments

    async def load_round(self, request: Request) -> Round:
        """Return the round a request is about; raise FormError or RoundNotFoundError."""
        round_id = request.path_params["id"]
        # Even an empty key is checked: with any key, the middleware admits everybody.
        key = request.query_params.get("key")
        if key is not None:
            self.signer.verify_link(round_id, key)
            if await self.app.key_values.read(SHARES, link_name(round_id, key)) is None:
                raise FormError(REVOKED_LINK, 410)
        running = self.app.runner.latest(round_id)
        round_ = running.round_ if running else await self.app.store.load(round_id)
        if key is None:
            check_readable(round_, empty_message(request))
        elif round_.forgotten:
            raise FormError(FORGOTTEN_LINK, 410)
        return round_


def is_member(context: WebContext, request: Request) -> bool:
    """Return whether a visitor is more than the holder of a signed link."""
    return "key" not in request.query_params and context.is_authenticated(request)


def is_page_admin(context: WebContext, request: Request) -> bool:
    """Return whether the visitor is an admin; without a token everybody who has the page is."""
    return not context.token or context.app.access.is_admin(visitor_of(request).asker)


def _address_of(request: Request) -> str:
    """Return the path and query of a page; the first page's for the answer to a form."""
    query = request.scope["query_string"].decode("latin-1")
    path = request.scope["path"] if request.method == "GET" else "/"
    return f"{path}?{query}" if query else path


def query_options(request: Request, names: Sequence[str]) -> dict[str, str]:
    """Return the options in an address that are not empty, each cut to its limit."""
    found = {name: request.query_params.get(name, "").strip() for name in names}
    return {name: value[:MAX_OPTION_CHARACTERS] for name, value in found.items() if value}


@cache
def _asset_url(name: str) -> str:
    """Return a static file's URL with a digest of its content, so that browsers may cache it."""
    digest = sha256((STATIC / name).read_bytes()).hexdigest()[:12]
    return f"/static/{name}?{digest}"


def file_response(name: str, content: str | bytes, media_type: str) -> Response:
    """Return a download, under a name that every system accepts."""
    plain = "".join(c if c.isalnum() or c in "-._" else "_" for c in name if c.isascii())
    headers = {"Content-Disposition": f'attachment; filename="{plain}"'}
    return Response(content, media_type=media_type, headers=headers)


CORE_TEMPLATES: Pages = Pages(
    name="Council",
    package="bot.web",
    filters={
        "markdown": render_markdown,
        "kind": lambda part: type(part).__name__,
        "duration": duration,
        "money": money,
        "named_question": named_question,
        "usd": format_usd,
        "ordinal": ordinal,
        "styled_runs": styled_runs,
        "parse_time": parse_time,
    },
    globals={
        "asset": _asset_url,
        "file_limits": (MAX_FILES, MAX_TOTAL_BYTES, MAX_IMAGE_BYTES),
        "names_of": seat_names,
        "receivers": receivers,
    },
)
