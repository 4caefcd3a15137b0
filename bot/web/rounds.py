"""Handlers of rounds: ask, read, download and vote."""

import asyncio
import base64
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.admission import admit_round
from bot.attachments import TOO_MANY_FILES
from bot.chat import (
    MAX_RAW_CHARACTERS,
    Attachment,
    Caution,
    IncomingMessage,
    Post,
    Prose,
    check_length,
)
from bot.commands.ask import AskOptions, new_round
from bot.commands.conversations import follow_up, load_turns
from bot.commands.dispatch import handle_message
from bot.commands.registry import Invocation, commands_of, is_question
from bot.commands.rounds import repeated_ids
from bot.commands.voting import NOT_BLIND, cast_vote, own_vote
from bot.context import usual_seconds
from bot.hooks import is_same_question
from bot.render.agreement import agreement_chip, agreement_parts
from bot.render.formatting import author_names, rough_duration
from bot.render.markdown import thread_markdown
from bot.render.people import named_round
from bot.render.round_json import round_document
from bot.render.round_report.answers import answers_by_label
from bot.render.round_report.exchanges import EXCHANGES_TITLE, exchange_rows
from bot.render.round_report.flags import flag_notes
from bot.render.round_report.placements import placement_table
from bot.render.round_report.rankings import HOW_SHOWN, rankings_intro
from bot.render.round_report.results import agreement_note, result_notes, result_rows
from bot.render.round_report.thread import DISCLAIMER, round_post, round_title, whole_round
from bot.render.round_report.verdict import verdict_facts
from bot.render.round_status import receipt_line
from bot.render.voting import blind_answers, takes_blind_votes, votes_line
from bot.settings.default_panels import DEMO_QUESTIONS
from bot.web.auth import (
    Form,
    empty_message,
    place_of,
    read_uploads,
    visitor_of,
)
from bot.web.commands import PageChat
from bot.web.context import WebContext, file_response, is_member
from bot.web.decide import decision_values
from bot.web.round_view import blind_progress, late_answers, ranking_rows
from bot.web.shares import may_share
from council.budget import estimate_round
from council.errors import CouncilError, FileError, RoundNotFoundError
from council.files import MAX_FILES
from council.integrity.erasure import check_not_forgotten
from council.integrity.seal import Seal, find_changes
from council.integrity.verification import verify
from council.methods import missing_rules
from council.rounds import Question, Round

NO_FIELDS: Form = {}

# --- Pages and downloads


async def front_page(context: WebContext, request: Request) -> Response:
    """Show the form for a question, what runs here, and who receives the data."""
    return await context.render_page(
        request,
        "front.html",
        questions=DEMO_QUESTIONS,
        state=context.state(),
    )


async def round_page(context: WebContext, request: Request) -> Response:
    """Show a round: its answer and thread, or its progress."""
    # Asked before loading: if the round closes in between, the next event tells the browser.
    is_running = await context.app.runner.is_running(request.path_params["id"])
    round_ = await context.load_round(request)
    # A signed link alone permits no action, not even to the visitor who asked.
    is_own = context.is_authenticated(request) and _is_asker(request, round_)
    shown = _as_read(request, round_)
    if round_.closing is not None or round_.forgotten is not None:
        seal = await context.app.store.seal(round_.id)
        values = await asyncio.to_thread(_closed_values, shown)
        values |= await asyncio.to_thread(_proofs, round_, seal)
        values |= await decision_values(context, request, shown)
    else:
        values = await _running_values(context, request, shown)
    if round_.panel.name in context.app.panels:
        values["panel"] = round_.panel.name
    if "key" in request.query_params:  # a shared page shows nothing but the round
        values |= {"known": False, "lines": (), "turns": ()}
    else:
        turns = map(named_round, await load_turns(context.app, round_, empty_message(request)))
        values["turns"] = [(one.id, round_title(one), _answer_of(one)) for one in turns]
        values["follows"] = "" if round_.forgotten else round_.id
        values["only_me"] = round_.question.place.private
    return await context.render_page(
        request,
        "round.html",
        round_=shown,
        title=round_title(shown),
        current=round_.id,
        is_running=is_running and not round_.closing,
        is_own=is_own,
        may_share=may_share(context, request, round_),
        seen=NOT_BLIND,
        state=context.state(),
        fragments=await context.load_fragments(request, round_),
        **values,
        **await _vote_values(context, request, round_),
    )


def _as_read(request: Request, round_: Round) -> Round:
    """Return a round with the names of people, unless the visitor has but a link to it."""
    return round_ if "key" in request.query_params else named_round(round_)


def _answer_of(round_: Round) -> Post:
    """Return the council's answer to an earlier question, without anything else."""
    return Post(tuple(part for part in round_post(round_).parts if isinstance(part, Prose)))


async def _running_values(context: WebContext, request: Request, round_: Round) -> dict[str, Any]:
    app, asker_id = context.app, visitor_of(request).asker.id
    usual = await usual_seconds(app.store, round_.panel.name)
    may_vote = is_member(context, request)
    receipt = missing_rules(round_)  # the cost is unknown without the rules of its method
    if not receipt:
        receipt = receipt_line(round_, await estimate_round(round_, app.gateway))
    return {
        "deciding": "",
        "may_vote": may_vote,
        "takes_votes": may_vote and takes_blind_votes(round_),
        "own": await own_vote(app, round_.id, asker_id) if may_vote else None,
        "root": None,
        "draw": None,
        "progress": blind_progress(round_),
        "cards": blind_answers(round_),
        "receipt": receipt,
        "usual": rough_duration(usual) if usual else "",
    }


async def _vote_values(context: WebContext, request: Request, round_: Round) -> dict[str, Any]:
    if not may_use_result(context, request, round_):
        return {"may_mark": False, "voted_before": None}
    app, asker_id = context.app, visitor_of(request).asker.id
    return {
        "may_mark": True,
        "voted_before": await own_vote(app, round_.id, asker_id),
        "votes": votes_line(round_, await app.store.votes(round_.id)),
    }


def _proofs(round_: Round, seal: Seal | None) -> dict[str, Any]:
    """Return what differs from what was sealed, and from what the rankings come to."""
    is_recomputed = round_.draw and not missing_rules(round_)
    return {
        "link": seal.link if seal else None,
        "changed": find_changes(round_, seal) if seal else (),
        "differences": verify(round_) if is_recomputed else (),
    }


def _closed_values(round_: Round) -> dict[str, Any]:
    values: dict[str, Any] = {
        "root": round_post(round_),
        "facts": verdict_facts(round_),
        "agreement": agreement_chip(round_),
        "map": agreement_parts(round_, round_.draw) if round_.draw else (),
        "disclaimer": DISCLAIMER,
        "draw": round_.draw,
        "missing": missing_rules(round_),  # what it lacks is among its notes
    }
    if round_.draw:
        values |= {
            "results": result_rows(round_, round_.draw),
            "flags": flag_notes(round_),
            "late": late_answers(round_),
            "rankings": ranking_rows(round_, round_.draw),
            "rankings_intro": rankings_intro(round_),
            "how_shown": HOW_SHOWN,
            "exchanges": exchange_rows(round_),
            "exchanges_title": EXCHANGES_TITLE,
            "authors": author_names(round_.panel, round_.draw),
            "answers": [] if round_.forgotten else [*answers_by_label(round_, round_.draw)],
            "placings": placement_table(round_, round_.draw),
            "notes": [*result_notes(round_), *filter(None, [agreement_note(round_)])],
        }
    return values


async def download_json(context: WebContext, request: Request) -> Response:
    """Return a round as `council show --json` prints it; who wrote what only once it is closed."""
    round_ = await context.load_round(request)
    document = round_document(round_)
    if "key" in request.query_params:  # a shared page does not say who asked
        document |= {"asked_by": ""}
    text = json.dumps(document, ensure_ascii=False, indent=2)
    return file_response(f"round-{round_.id}.json", text, "application/json")


async def download_markdown(context: WebContext, request: Request) -> Response:
    """Return a round as Markdown; who wrote what only once it is closed."""
    round_ = await context.load_round(request)
    text = thread_markdown(whole_round(_as_read(request, round_)))
    return file_response(f"round-{round_.id}.md", text, "text/markdown; charset=utf-8")


async def download_file(context: WebContext, request: Request) -> Response:
    """Return a file of a round's question: an image, or a text as it was read."""
    round_ = await context.load_round(request)
    number, files = request.path_params["number"], round_.question.files
    # A shared link opens the question and its answer, not what came with it.
    if "key" in request.query_params or number >= len(files):
        raise HTTPException(404)
    file = files[number]
    if file not in round_.question.kept_files:  # it is forgotten
        raise HTTPException(404)
    if file.is_image:
        return file_response(file.name, base64.b64decode(file.data), file.media_type)
    return file_response(f"{file.name}.txt", file.text, "text/plain; charset=utf-8")


# --- Questions


async def ask(context: WebContext, request: Request, form: Form) -> Response:
    """Start a round and redirect to its page; show the reply to any other command."""
    text, visitor = form["question"], visitor_of(request)
    try:
        check_length(text, limit=MAX_RAW_CHARACTERS)  # before it is parsed
    except CouncilError as error:
        return await _show_refusal(context, request, error, form)
    place = place_of(visitor, private=form["audience"] == "me")
    key, files = context.form_key(form), await read_uploads(request)
    incoming = IncomingMessage(text, visitor.asker, place, key, files=files)
    parsed = commands_of(context.app).parse(text) if text.strip() else None
    if parsed and not is_question(parsed):
        chat = PageChat()
        # A panel is picked for the whole page, not for private questions alone.
        await handle_message(context.app, chat, replace(incoming, place=place_of(visitor)))
        return await context.render_page(request, "said.html", posts=chat.posts, said=text)
    asked = parsed.arguments if isinstance(parsed, Invocation) else {}
    options = AskOptions(
        asked.get("panel", form["panel"]) or None,
        asked.get("method", form["method"]) or None,
        asked.get("seed"),
    )
    question = asked.get("question", "")
    if before := form["follows"]:
        try:
            incoming = await follow_up(context.app, incoming, before)
        except CouncilError as error:
            return await _show_refusal(context, request, error, form)
    try:
        incoming = await _add_kept_files(context, request, form, incoming)
        return await _start_and_redirect(context, replace(incoming, text=question), options)
    except CouncilError as error:
        return await _show_refusal(context, request, error, form, files)


async def _add_kept_files(
    context: WebContext, request: Request, form: Form, incoming: IncomingMessage
) -> IncomingMessage:
    """Return a message with its files, and those that stay from when it was refused."""
    kept = context.kept_files.find(visitor_of(request).secret, form)
    if not kept:
        return incoming
    if len(kept) + len(incoming.files) > MAX_FILES:
        raise FileError(TOO_MANY_FILES)
    new = await context.app.file_reader.read(incoming.files)
    return replace(incoming, files=(), attached=(*kept, *new))


async def edit_page(
    context: WebContext, request: Request, form: Form = NO_FIELDS, error: str = ""
) -> Response:
    """Show a round's question in a form that asks it anew; after an error, what was entered."""
    round_ = await context.load_round(request)
    if not is_member(context, request):
        raise RoundNotFoundError("A share link only shows a round. Open the round without it.")
    check_not_forgotten(round_)
    question = round_.question  # without names of people, which models must not read
    kept = [(i, file.name) for i, file in enumerate(question.files) if file in question.kept_files]
    panel = form.get("panel") or round_.panel.name
    return await context.render_page(
        request,
        "edit.html",
        status=422 if error else 200,
        round_=round_,
        typed=form.get("question", question.text),
        kept=[(i, name) for i, name in kept if not form or form.get(f"keep {i}")],
        error=error,
        only_me=form.get("audience") == "me" if form else question.place.private,
        **({"panel": panel} if panel in context.app.panels else {}),
    )


async def ask_again(context: WebContext, request: Request, form: Form) -> Response:
    """Start another round with a round's question and panel, or with those of its edited form."""
    round_ = await context.load_round(request)
    visitor, question = visitor_of(request), round_.question
    check_not_forgotten(round_)
    place = place_of(visitor, private=question.place.private or form["audience"] == "me")
    incoming = IncomingMessage(
        question.text,
        visitor.asker,
        replace(place, thread=question.place.thread),
        context.form_key(form),
        question.context,
        attached=question.kept_files,
        instructions=question.instructions,
        answer_schema=question.answer_schema,
        quotes=repeated_ids(round_, visitor.asker.id),
    )
    options = AskOptions(round_.panel.name, round_.panel.terms.method)
    is_edited = "question" in form
    try:
        if is_edited:
            incoming, options = await _edited(context, request, form, incoming, question)
        return await _start_and_redirect(context, incoming, options)
    except CouncilError as error:
        if is_edited:
            return await edit_page(context, request, form, str(error))
        return await _show_refusal(context, request, error, {"question": incoming.text})


async def _edited(
    context: WebContext,
    request: Request,
    form: Form,
    incoming: IncomingMessage,
    question: Question,
) -> tuple[IncomingMessage, AskOptions]:
    """Return a message with the edited text and the files that stay or come, and its options."""
    check_length(form["question"], limit=MAX_RAW_CHARACTERS)
    kept = [f for i, f in enumerate(question.files) if form[f"keep {i}"] and f.text + f.data]
    uploads = await read_uploads(request)
    if len(kept) + len(uploads) > MAX_FILES:
        raise FileError(TOO_MANY_FILES)
    new = await context.app.file_reader.read(uploads)
    parsed = commands_of(context.app).parse(form["question"])
    asked = parsed.arguments if is_question(parsed) else {"question": form["question"]}
    options = AskOptions(
        asked.get("panel", form["panel"]) or None, asked.get("method"), asked.get("seed")
    )
    text = asked.get("question", "")
    return replace(incoming, text=text, attached=(*kept, *new)), options


async def _start_and_redirect(
    context: WebContext, incoming: IncomingMessage, options: AskOptions
) -> Response:
    """Start a round, once for each form, and redirect to it; raise CouncilError."""
    app = context.app
    await app.reload_settings(incoming.place)
    round_ = await new_round(app, incoming, options)
    if not await admit_round(app, round_):
        existing = await app.store.load(incoming.key)
        is_same = is_same_question(app, existing.question, round_.question)
        if is_same and existing.panel == round_.panel:
            return RedirectResponse(f"/rounds/{existing.id}", status_code=303)
        # The same form with another question, as after the browser's Back button.
        round_ = replace(round_, id=app.new_id())
        await admit_round(app, round_)
    app.runner.start(round_)
    return RedirectResponse(f"/rounds/{round_.id}", status_code=303)


async def _show_refusal(
    context: WebContext,
    request: Request,
    error: CouncilError,
    form: Form,
    files: Sequence[Attachment] = (),
) -> Response:
    """Show why a question was not asked; its text, choices and readable files are still there."""
    post = Post((Caution(str(error)),))
    chosen, visitor = form.get("panel", ""), visitor_of(request).secret
    kept = [*context.kept_files.find(visitor, form)]
    for file in files[: MAX_FILES - len(kept)]:
        with suppress(CouncilError):
            kept += await context.app.file_reader.read([file])
    return await context.render_page(
        request,
        "said.html",
        status=422,
        posts=[post],
        said="",
        typed=form["question"],
        follows=form.get("follows", ""),
        only_me=form.get("audience") == "me",
        kept=[(i, file.name) for i, file in enumerate(kept)],
        kept_code=context.kept_files.keep(visitor, tuple(kept)) if kept else "",
        **({"panel": chosen} if chosen in context.app.panels else {}),
    )


async def resume_round(context: WebContext, request: Request, _form: Form) -> Response:
    """Resume a stopped round."""
    round_ = await _load_own_round(context, request)
    if not round_.closing:
        await context.app.store.pause(round_.id, paused=False)
        context.app.runner.start(round_)
    return RedirectResponse(f"/rounds/{round_.id}", status_code=303)


async def stop_round(context: WebContext, request: Request, _form: Form) -> Response:
    """Stop a round; what it has produced so far stays."""
    round_ = await _load_own_round(context, request)
    await context.app.store.pause(round_.id, paused=True)
    await context.app.runner.stop(round_.id)
    return RedirectResponse(f"/rounds/{round_.id}", status_code=303)


async def _load_own_round(context: WebContext, request: Request) -> Round:
    """Return the round of a request; raise RoundNotFoundError unless the visitor asked it."""
    round_ = await context.load_round(request)
    if not _is_asker(request, round_):
        raise RoundNotFoundError("Only the person who asked can stop or resume this round.")
    return round_


def _is_asker(request: Request, round_: Round) -> bool:
    return round_.question.asked_by == visitor_of(request).asker.id


# --- Votes


async def show_rated_round(context: WebContext, request: Request, _form: Form) -> Response:
    """Redirect to the round: pages that were opened long ago still ask whether it was helpful."""
    round_ = await context.load_round(request)
    return RedirectResponse(f"/rounds/{round_.id}", status_code=303)


async def vote(context: WebContext, request: Request, form: Form) -> Response:
    """Store the visitor's vote for the best answer, and redirect to the answers."""
    round_ = await context.load_round(request)
    choice = form["label"] or form["order"]
    await cast_vote(context.app, round_, visitor_of(request).asker.id, choice)
    there = "answers" if round_.closing else "vote"
    return RedirectResponse(f"/rounds/{round_.id}#{there}", status_code=303)


def may_use_result(context: WebContext, request: Request, round_: Round) -> bool:
    """Return whether a round is closed, and the visitor more than a reader by a share link."""
    return is_member(context, request) and not (round_.forgotten or round_.closing is None)
