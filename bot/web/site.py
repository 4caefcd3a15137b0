"""What every handler of the page works with."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from bot.access import check_readable, listable
from bot.commands.buttons import PROPOSED
from bot.commands.context import Desk
from bot.coordination.tasks import Doing
from bot.render.formatting import names_of
from bot.render.round_status import receivers
from bot.render.schedules import cost_line, last_run, meaning, next_line
from bot.web.gate import is_known
from bot.web.markdown import markdown
from bot.web.seals import Seals
from bot.web.visitors import VISITOR_COOKIE, Visitor, looking, place_of, remember, visitor_of
from council.pipeline.methods import METHODS
from council.ports import RoundLine
from council.rounds import Round

STATIC = Path(__file__).parent / "static"
LISTED_ROUNDS = 30


@dataclass(frozen=True, slots=True)
class Site:
    """The desk behind the page, its seals, and what there is to say of this machine.

    `token` is None where no token is asked for; `state` says how far the models are, or nothing
    once they are ready. A wrong token is answered after `wrong_token_seconds`, against guessing;
    `doing` is what goes on after an answer.
    """

    desk: Desk
    seals: Seals
    token: str | None = None
    surroundings: tuple[str, ...] = ()
    state: Callable[[], str] = str
    wrong_token_seconds: float = 0.5
    doing: Doing = field(default_factory=Doing)

    def knows(self, request: Request) -> bool:
        """Say whether whoever asks is let in by the token, not by a signed link alone."""
        return is_known(request, self.token, self.seals)

    async def page(self, request: Request, name: str, status: int = 200, **shown: Any) -> Response:  # noqa: ANN401
        """Give a page in the frame they all share, and remember who it was for."""
        visitor = visitor_of(request)
        if "lines" not in shown:  # where they are, the database may be at fault
            await self.desk.look_up(place_of(visitor))
        frame = {
            "form_token": self.seals.form_token(visitor.secret),
            "lines": (),
            "known": self.knows(request),
            "panels": self.desk.panels,
            "panel": self.desk.picked(place_of(visitor)) or self.desk.default,
            "methods": tuple(METHODS),
            "new_key": self.desk.new_id(),
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
    ) -> tuple[RoundLine, ...]:
        """Give the newest rounds this visitor may read."""
        wanted = listable(looking(visitor), containing)
        return await self.desk.store.recent(limit, wanted)

    async def round_(self, request: Request) -> Round:
        """Give the round a request is about; raise LinkError or RoundNotFoundError."""
        round_id = request.path_params["id"]
        # Even an empty key: with any, the gate has let in somebody without the token.
        key = request.query_params.get("key")
        if key is not None:
            self.seals.open(round_id, key)
        seen = self.desk.runner.seen(round_id)
        round_ = seen.round_ if seen else await self.desk.store.load(round_id)
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
