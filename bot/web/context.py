"""Markdown by models and people, made into HTML that can neither run nor load anything."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from bot.access import check_readable, listable
from bot.commands.buttons import PROPOSED
from bot.commands.context import AppContext
from bot.coordination.tasks import BackgroundTasks
from bot.render.formatting import names_of
from bot.render.round_status import receivers
from bot.render.schedules import cost_line, last_run, meaning, next_line
from bot.render.text_safety import has_surplus_cells
from bot.web.auth import (
    VISITOR_COOKIE,
    PageSigner,
    Visitor,
    is_known,
    looking,
    place_of,
    remember,
    visitor_of,
)
from council.pipeline.methods import METHODS
from council.ports import RoundSummary
from council.rounds import Round

# --- Markdown by models and people, made into HTML that can neither run nor load anything.

# Any other scheme may start a program of the reader's; without one a link leads to this page.
_NESTING = 40  # the parser leaves out what is nested deeper
_LEADS_OUT = re.compile(r"(https?://|mailto:)", re.IGNORECASE)


def _link_open(tokens: Sequence[Token], i: int, _options: Any, _env: Any) -> str:  # noqa: ANN401
    href = Markup("{}").format(tokens[i].attrs.get("href", ""))
    return f'<a href="{href}" rel="noopener noreferrer nofollow ugc" target="_blank">'


def _fence(renderer: RendererHTML, *args: Any) -> str:  # noqa: ANN401
    return renderer.fence(*args).replace("<pre>", '<pre tabindex="0">', 1)


def _renderer() -> MarkdownIt:
    # An image would be loaded from elsewhere by whoever reads; its link stays.
    markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": _NESTING})
    markdown.enable(["table", "strikethrough"]).disable("image")
    markdown.validateLink = lambda url: bool(_LEADS_OUT.match(url))  # type: ignore[method-assign]
    markdown.add_render_rule("link_open", lambda _, *args: _link_open(*args[:4]))
    markdown.add_render_rule("fence", _fence)
    return markdown


_MARKDOWN = _renderer()


def markdown(text: str) -> Markup:
    """Give the HTML of a Markdown text: no raw HTML, no images, links that lead out only by hand.

    Headings are made smaller ones, since the page has its own; what may be wider than the page
    scrolls, and the keyboard reaches it.
    """
    tokens = _MARKDOWN.parse(text)
    if _leaves_out(tokens, text):
        return Markup('<pre tabindex="0">{}</pre>\n').format(text)
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, int(token.tag[1]) + 3)}"
        elif token.type in {"table_open", "code_block"}:
            token.attrSet("tabindex", "0")
        # The page allows no style but its own, so a column on the right is given by its class.
        elif style := token.attrs.pop("style", ""):
            token.attrs |= {"class": "n"} if style == "text-align:right" else {}
    # The renderer escapes all text; with raw HTML off there is nothing else.
    return Markup(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))  # noqa: S704


def _leaves_out(tokens: Sequence[Token], text: str) -> bool:
    """Say whether some of a text is not among its tokens, so that it is shown as it was written."""
    lines = text.split("\n")
    columns = 0
    for token in reversed(tokens):  # a table's columns are known before its opening
        columns += token.type == "th_open"
        if token.type == "table_open" and token.map:
            if has_surplus_cells(lines[slice(*token.map)], columns):
                return True
            columns = 0
    return any(token.level >= _NESTING - 1 for token in tokens)


# --- What every handler of the page works with.

STATIC = Path(__file__).parent / "static"
LISTED_ROUNDS = 30


@dataclass(frozen=True, slots=True)
class WebContext:
    """The desk behind the page, its seals, and what there is to say of this machine.

    `token` is None where no token is asked for; `state` says how far the models are, or nothing
    once they are ready. A wrong token is answered after `wrong_token_seconds`, against guessing;
    `doing` is what goes on after an answer.
    """

    app: AppContext
    seals: PageSigner
    token: str | None = None
    surroundings: tuple[str, ...] = ()
    state: Callable[[], str] = str
    wrong_token_seconds: float = 0.5
    doing: BackgroundTasks = field(default_factory=BackgroundTasks)

    def knows(self, request: Request) -> bool:
        """Say whether whoever asks is let in by the token, not by a signed link alone."""
        return is_known(request, self.token, self.seals)

    async def page(self, request: Request, name: str, status: int = 200, **shown: Any) -> Response:  # noqa: ANN401
        """Give a page in the frame they all share, and remember who it was for."""
        visitor = visitor_of(request)
        if "lines" not in shown:  # where they are, the database may be at fault
            await self.app.look_up(place_of(visitor))
        frame = {
            "form_token": self.seals.form_token(visitor.secret),
            "lines": (),
            "known": self.knows(request),
            "panels": self.app.panels,
            "panel": self.app.picked(place_of(visitor)) or self.app.default,
            "methods": tuple(METHODS),
            "new_key": self.app.new_id(),
            "key": request.query_params.get("key", ""),
            "current": "",
            "path": request.url.path,
            "typed": "",
        }
        # Whoever follows a signed link, or has lost the way, is shown no questions of others.
        if "lines" not in shown and frame["known"]:
            frame["lines"] = await self.lines(visitor, LISTED_ROUNDS)
        html = _templates().get_template(name).render(frame | shown)
        response = HTMLResponse(html, status)
        if visitor.new:
            remember(response, request, VISITOR_COOKIE, visitor.secret)
        return response

    async def lines(
        self, visitor: Visitor, limit: int, containing: str = ""
    ) -> tuple[RoundSummary, ...]:
        """Give the newest rounds this visitor may read."""
        wanted = listable(looking(visitor), containing)
        return await self.app.store.recent(limit, wanted)

    async def round_(self, request: Request) -> Round:
        """Give the round a request is about; raise LinkError or RoundNotFoundError."""
        round_id = request.path_params["id"]
        # Even an empty key: with any, the gate has let in somebody without the token.
        key = request.query_params.get("key")
        if key is not None:
            self.seals.open(round_id, key)
        seen = self.app.runner.latest(round_id)
        round_ = seen.round_ if seen else await self.app.store.load(round_id)
        if key is not None:
            return round_
        visitor = visitor_of(request)
        check_readable(round_, looking(visitor))
        return round_


def fragment(name: str, **shown: Any) -> str:  # noqa: ANN401
    """Give a part of a page."""
    return _templates().get_template(name).render(shown)


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("bot.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"markdown": markdown, "kind": lambda part: type(part).__name__}
    environment.globals |= {"asset": _asset, "names_of": names_of, "receivers": receivers}
    environment.globals |= {"meaning": meaning, "next_line": next_line}
    environment.globals |= {"cost_line": cost_line, "last_run": last_run}
    environment.globals["pressable"] = PROPOSED
    return environment


@cache
def _asset(name: str) -> str:
    """Give a file's address, which changes with the file, so that browsers may keep it."""
    digest = sha256((STATIC / name).read_bytes()).hexdigest()[:12]
    return f"/static/{name}?{digest}"


# --- What a browser is given to keep as a file.


def download(name: str, content: str | bytes, media_type: str) -> Response:
    """Give a file to keep, under a name that any system takes."""
    plain = "".join(c if c.isalnum() or c in "-._" else "_" for c in name if c.isascii())
    headers = {"Content-Disposition": f'attachment; filename="{plain}"'}
    return Response(content, media_type=media_type, headers=headers)
