"""What visitors do: ask, go on with a round, stop it, let the page know them by the token."""

import asyncio
import json
import re
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.bakeoffs.leaderboard import beside
from bot.chat import Caution, Chat, IncomingMessage, Post, SentMessage
from bot.commands.ask import AskOptions, accepted, proposed
from bot.commands.dispatch import ASK, COMMANDS, handle_message
from bot.commands.rounds import SEEN, Opinion, cast_vote, own_feedback, own_vote, rate
from bot.render.round_json import document
from bot.render.round_report import (
    as_markdown,
    ballots_post,
    findings,
    labelled_answers,
    placings,
    report,
    standings_post,
    title_of,
)
from bot.render.round_status import progress_post
from bot.web.auth import PASS_COOKIE, Visitor, is_token, place_of, remember, visitor_of
from bot.web.context import WebContext, download
from council.errors import CouncilError, RoundNotFoundError
from council.feedback import Feedback, HumanVote
from council.integrity.seal import Seal, changes
from council.integrity.verification import verify
from council.places import Place
from council.rounds import Round

# --- What visitors do: ask, go on with a round, stop it, let the page know them by the token.

MOST_BYTES = 4_000_000
KEY = re.compile(r"[0-9a-f]{10}")
_LOCAL_PATH = re.compile(r"/(?![/\\])[\x21-\x7e]{0,200}")


class FormError(CouncilError):
    """A form that cannot be acted on; `status` is HTTP's."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


async def own_form(site: WebContext, request: Request) -> FormData:
    """Give a form's fields; raise FormError unless it is of a bearable size and this visitor's."""
    length = request.headers.get("content-length", "")
    if not length.isdigit() or int(length) > MOST_BYTES:
        raise FormError("That is too much text for a question: shorten it.", 413)
    form = await request.form(max_part_size=MOST_BYTES)
    if not site.seals.fits_form(visitor_of(request).secret, str(form.get("token", ""))):
        raise FormError("This page was open for too long: load it again, then send it.", 403)
    return form


@dataclass(slots=True)
class PageChat(Chat):
    """The page as a chat: what is said to a visitor is collected for the next page."""

    follows: ClassVar[bool] = False
    posts: list[Post] = field(default_factory=list)

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        """Collect a post."""
        self.posts.append(post)
        return SentMessage(place, str(len(self.posts)))

    async def find(self, place: Place, key: str) -> SentMessage | None:
        """Give nothing: no page is shown twice."""
        return None

    async def edit(self, sent: SentMessage, post: Post) -> None:
        """Put a post in the place of another."""
        self.posts[int(sent.message) - 1] = post

    async def send_ephemeral(self, said: IncomingMessage, post: Post) -> None:
        """Collect a post: everybody here is the one who spoke."""
        self.posts.append(post)


async def asked(site: WebContext, request: Request) -> Response:
    """Open a round and go to its page; any other command is answered on the page itself."""
    form = await own_form(site, request)
    text = str(form.get("question", ""))
    visitor = visitor_of(request)
    said = _said(visitor, text, form)
    order = COMMANDS.read(text) if text.strip() else None
    if order and order.command is not ASK:
        page = PageChat()
        # A panel is picked for the whole page, not for private questions alone.
        await handle_message(site.app, page, replace(said, place=place_of(visitor)))
        return await site.page(request, "said.html", posts=page.posts, said=text)
    return await _to_its_page(site, request, said, order.argument if order else "", _choice(form))


async def _to_its_page(
    site: WebContext, request: Request, said: IncomingMessage, text: str, choice: AskOptions
) -> Response:
    """Open the question's round and lead to it; where it is refused, nothing typed is lost."""
    try:
        round_id = await _opened(site, said, text, choice)
    except CouncilError as error:
        refused = Post((Caution(str(error)),))
        return await site.page(
            request, "said.html", status=422, posts=[refused], said="", typed=said.text
        )
    return RedirectResponse(f"/rounds/{round_id}", status_code=303)


def _said(visitor: Visitor, text: str, form: FormData) -> IncomingMessage:
    place = place_of(visitor, private=form.get("audience") == "me")
    # The form brings its key along: sent twice, it makes one round.
    key = str(form.get("round", ""))
    return IncomingMessage(text, visitor.asker, place, key)


def _choice(form: FormData) -> AskOptions:
    return AskOptions(str(form.get("panel", "")) or None, str(form.get("method", "")) or None)


async def _opened(site: WebContext, said: IncomingMessage, text: str, choice: AskOptions) -> str:
    """Give the id of the question's round, carried on; a form that is sent twice makes one."""
    app = site.app
    key = said.key if KEY.fullmatch(said.key) else app.new_id()
    await app.look_up(said.place)
    round_ = proposed(app, replace(said, key=key), text, choice)
    if not await app.open(round_):
        before = await app.store.load(key)
        if (before.question, before.panel) == (round_.question, round_.panel):
            return key
        # The form asks something else now, as after going back a page.
        round_ = replace(round_, id=app.new_id())
        await app.open(round_)
    app.runner.start(round_)
    return round_.id


async def asked_again(site: WebContext, request: Request) -> Response:
    """Put a round's question to its panel once more."""
    form = await own_form(site, request)
    round_ = await site.round_(request)
    visitor = visitor_of(request)
    place = place_of(visitor, private=round_.question.place.private)
    asked_before = round_.question
    key = str(form.get("round", ""))
    said = IncomingMessage(asked_before.text, visitor.asker, place, key, asked_before.context)
    choice = AskOptions(round_.panel.name, round_.panel.terms.method)
    return await _to_its_page(site, request, said, said.text, choice)


async def gone_on(site: WebContext, request: Request) -> Response:
    """Go on with a round that stopped."""
    round_ = await _own_round(site, request)
    if not round_.closing:
        await site.app.store.pause(round_.id, paused=False)
        site.app.runner.start(round_)
    return RedirectResponse(f"/rounds/{round_.id}", status_code=303)


async def stopped(site: WebContext, request: Request) -> Response:
    """Stop spending on a round; what there is stays."""
    round_ = await _own_round(site, request)
    await site.app.store.pause(round_.id, paused=True)
    await site.app.runner.stop(round_.id)
    return RedirectResponse(f"/rounds/{round_.id}", status_code=303)


async def _own_round(site: WebContext, request: Request) -> Round:
    """Give the round of the one who asked for it; to others it is as if it were not there."""
    await own_form(site, request)
    round_ = await site.round_(request)
    if round_.question.asked_by != visitor_of(request).asker.id:
        raise RoundNotFoundError("Only the one who asked can stop a round or go on with it.")
    return round_


async def let_in(site: WebContext, request: Request) -> Response:
    """Give a pass to whoever knows the token."""
    form = await own_form(site, request)
    if not site.token or not is_token(str(form.get("password", "")), site.token):
        await asyncio.sleep(site.wrong_token_seconds)
        return await site.page(
            request, "login.html", status=403, wrong=True, next=_next(form.get("next")), lines=()
        )
    response = RedirectResponse(_next(form.get("next")), status_code=303)
    remember(response, request, PASS_COOKIE, site.seals.new_pass())
    return response


def _next(wanted: object) -> str:
    path = str(wanted or "/")
    return path if _LOCAL_PATH.fullmatch(path) else "/"


async def login(site: WebContext, request: Request) -> Response:
    """Ask for the token."""
    wanted = _next(request.query_params.get("next"))
    return await site.page(request, "login.html", wrong=False, next=wanted, lines=())


# --- What visitors think of a round: two buttons under its answer, and a reason where it failed.

_HELPFUL = {"yes": True, "no": False}


async def rated(site: WebContext, request: Request) -> Response:
    """Keep what a visitor thinks of a round they may read, and go back to its page."""
    form = await own_form(site, request)
    round_ = await site.round_(request)
    helpful = _HELPFUL.get(str(form.get("helpful", "")))
    if helpful is None:
        raise FormError("Say whether it helped: press Helpful or Not helpful.", 400)
    opinion = Opinion(helpful, str(form.get("reason", "")))
    await rate(site.app, round_, visitor_of(request).asker.id, opinion)
    return RedirectResponse(f"/rounds/{round_.id}#feedback", status_code=303)


def may_rate(site: WebContext, request: Request, round_: Round) -> bool:
    """Say whether the page asks what its visitor thinks: not by a link alone, nor without texts."""
    by_link = "key" in request.query_params or not site.knows(request)
    return not (by_link or round_.forgotten or round_.closing is None)


async def said_before(site: WebContext, request: Request, round_: Round) -> Feedback | None:
    """Give what the visitor has said of the round."""
    return await own_feedback(site.app, round_.id, visitor_of(request).asker.id)


# --- Which answer visitors call the best: a small button beside each.


async def voted(site: WebContext, request: Request) -> Response:
    """Keep a visitor's vote on a round they may read, and go back to its answers."""
    form = await own_form(site, request)
    round_ = await site.round_(request)
    letter = str(form.get("label", ""))
    await cast_vote(site.app, round_, visitor_of(request).asker.id, letter)
    return RedirectResponse(f"/rounds/{round_.id}#answers", status_code=303)


async def voted_before(site: WebContext, request: Request, round_: Round) -> HumanVote | None:
    """Give what the visitor has voted on the round."""
    return await own_vote(site.app, round_.id, visitor_of(request).asker.id)


# --- The page of a round with the leaderboard as prior: beside the count, on request.


async def beside_page(site: WebContext, request: Request) -> Response:
    """Give what the leaderboard would have said of a closed round; not by a link alone."""
    round_ = await site.round_(request)
    if not may_rate(site, request, round_):
        raise FormError("Only who may read the leaderboard sees what it says of a round.", 403)
    post = await beside(site.app, round_)
    return await site.page(
        request, "beside.html", post_=post, round_=round_, title=title_of(round_)
    )


# --- What visitors read: the front page, the list of rounds, a round, its downloads.

FOUND_ROUNDS = 100


async def front(site: WebContext, request: Request) -> Response:
    """Give the first page: ask, and see what runs here and who receives what."""
    return await site.page(
        request, "front.html", surroundings=site.surroundings, state=site.state()
    )


async def rounds(site: WebContext, request: Request) -> Response:
    """Give the rounds whose question holds what is looked for."""
    wanted = request.query_params.get("q", "")[:200].strip()
    found = await site.lines(visitor_of(request), FOUND_ROUNDS, wanted)
    return await site.page(request, "rounds.html", found=found, wanted=wanted)


async def round_page(site: WebContext, request: Request) -> Response:
    """Give a round: its answer and thread, or how far it is."""
    # Asked before it is loaded: a round that closes in between is told by the next event.
    is_carried = await site.app.runner.is_running(request.path_params["id"])
    round_ = await site.round_(request)
    # By a link alone nothing can be done with a round, not even by the one who asked.
    is_own = site.knows(request) and round_.question.asked_by == visitor_of(request).asker.id
    is_over = round_.closing is not None or round_.forgotten is not None
    if is_over:
        seal = await site.app.store.seal(round_.id)
        shown = await asyncio.to_thread(_closed, round_, seal)
    else:
        shown = await asyncio.to_thread(_open, round_)
        shown["accepted"] = (await accepted(site.app, round_)).summary
    can_rate = may_rate(site, request, round_)
    if round_.panel.name in site.app.panels:
        shown["panel"] = round_.panel.name
    return await site.page(
        request,
        "round.html",
        round_=round_,
        title=title_of(round_),
        current=round_.id,
        is_running=is_carried and not round_.closing,
        is_own=is_own,
        may_rate=can_rate,
        suites=await _suites(site) if can_rate else (),
        said_before=await said_before(site, request, round_) if can_rate else None,
        voted_before=await voted_before(site, request, round_) if can_rate else None,
        latest=SEEN,
        state=site.state(),
        **shown,
    )


async def _suites(site: WebContext) -> tuple[str, ...]:
    """Give the names of the suites that a question could join."""
    return tuple(line.name for line in await site.app.bakeoff_stores.suites.lines(""))


def _open(round_: Round) -> dict[str, Any]:
    return {"progress": progress_post(round_, 0), "root": None, "draw": None}


def _closed(round_: Round, seal: Seal | None) -> dict[str, Any]:
    shown: dict[str, Any] = {"root": report(round_).root, "draw": round_.draw}
    shown |= {
        "link": seal.link if seal else None,
        "changed": changes(round_, seal) if seal else (),
    }
    if round_.draw:
        shown |= {
            "standings": standings_post(round_, round_.draw),
            "ballots": ballots_post(round_, round_.draw),
            "answers": [] if round_.forgotten else [*labelled_answers(round_, round_.draw)],
            "placings": placings(round_, round_.draw),
            "findings": findings(round_),
            "differences": verify(round_),
        }
    return shown


async def as_json(site: WebContext, request: Request) -> Response:
    """Give a round as the document that `council show --json` prints."""
    round_ = await site.round_(request)
    text = json.dumps(document(round_), ensure_ascii=False, indent=2)
    return download(f"round-{round_.id}.json", text, "application/json")


async def as_markdown_file(site: WebContext, request: Request) -> Response:
    """Give a round as a Markdown file."""
    round_ = await site.round_(request)
    text = as_markdown(report(round_))
    return download(f"round-{round_.id}.md", text, "text/markdown; charset=utf-8")
