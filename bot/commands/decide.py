"""Decide disputed points: show the choices, then let the chairman write once more with them given.

Every chat, the page, MCP and the API share it.
"""

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from bot.access import check_admitted, check_panel
from bot.admission import check_limits
from bot.chat import Buttons, Chat, IncomingMessage, send_note
from bot.commands.forms import Form, FormAction, Option, RadioField
from bot.commands.parameters import Arguments
from bot.commands.reveal import check_revealed
from bot.commands.round_delivery import follow_and_deliver
from bot.commands.rounds import find_round_or_last, load_readable_round
from bot.context import AppContext, RunningDecision
from bot.coordination.tasks import states
from bot.render.formatting import max_cost_text, seat_names
from bot.render.people import with_names
from bot.render.round_report.decisions import (
    choices_post,
    decision_post,
    lettered,
    text_id,
)
from bot.render.round_report.thread import forgotten_line, round_post
from council.budget import Estimate, decision_account, estimate_decision
from council.budget_caps import Account
from council.decisions import MAX_DECISIONS, NOTHING_DISPUTED, disputed_points, match_choices
from council.errors import CouncilError, DecisionError
from council.integrity.erasure import check_not_forgotten
from council.pipeline.session import RoundServices
from council.pipeline.synthesis import synthesize_decided
from council.rounds import Choice, Decision, Round

OPEN = "open"  # the value of a point that stays open
FAILED, MAX_FAILED = "decision failed", 1_000  # the kind of memo: who decided, and what happened
WRITING = "The chairman is writing the answer with your decision …"
DONE_ALREADY = "This decision is made already."
UNFINISHED = "This question has no answer yet. Decide once it has one."
BUSY = "Somebody is deciding on this question just now. Look at the result first."
MEANWHILE = "Somebody else decided on this question meanwhile. Look at the result first."
GONE = "A point of this form is no longer disputed. Open the form again."
FULL = f"This question was decided {MAX_DECISIONS} times. Ask a new question instead."
NOBODY_WROTE = "No chairman could write the answer, so nothing changed. Try again later."
CHOICES_PATTERN = r"\d+\s*=\s*[a-z]+(?:[\s,;]+\d+\s*=\s*[a-z]+)*"
_CHOICE = re.compile(r"(\d+)\s*=\s*([a-z]+)", re.IGNORECASE)
_FIELD = "point-"  # how the names of a form's fields begin

Wanted = Iterable[tuple[str, str]]  # points and positions, in the words of the map


# --- What can be decided, and the form


async def load_decidable(app: AppContext, message: IncomingMessage, round_id: str) -> Round:
    """Return a round with disputed points that the author of a message may decide here.

    Raise CouncilError, which says why not, for any other round.
    """
    check_admitted(app.access, message)
    round_ = await load_readable_round(app, message, round_id)
    if round_.forgotten:
        raise CouncilError(forgotten_line(round_.forgotten))
    check_not_forgotten(round_)
    if round_.closing is None:
        raise DecisionError(UNFINISHED)
    await check_revealed(app, round_)
    if not disputed_points(round_):
        raise DecisionError(NOTHING_DISPUTED)
    if len(round_.decisions) >= MAX_DECISIONS:
        raise DecisionError(FULL)
    check_panel(app.access, message.place, round_.panel)
    return round_


async def decision_terms(app: AppContext, round_: Round) -> str:
    """Return what a decision does, and what it may cost."""
    estimate = await estimate_decision(round_, app.gateway)
    names = seat_names(round_.panel)
    cost = max_cost_text(estimate.capped(round_.panel), [names[key] for key in estimate.unknown])
    return f"The chairman writes the answer once more, with your choices as given. {cost}."


async def open_decide_form(app: AppContext, message: IncomingMessage, round_id: str) -> Form:
    """Return the form with a choice for each disputed point, without the names of models."""
    round_ = await load_decidable(app, message, round_id)
    fields = tuple(
        RadioField(
            f"{_FIELD}{text_id(dispute.point)}",
            dispute.point,
            (
                *(Option(text_id(one.says), one.says) for one in dispute.positions),
                Option(OPEN, "Leave open"),
            ),
            initial=OPEN,
        )
        for dispute in disputed_points(round_)
    )
    return Form("Decide", "Decide", fields, value=round_id, note=await decision_terms(app, round_))


def chosen_in_form(round_: Round, values: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the points and positions that a submitted form chose; raise DecisionError."""
    known = {text_id(one.point): one for one in disputed_points(round_)}
    chosen = []
    for name, value in values.items():
        if not name.startswith(_FIELD) or value in {"", OPEN}:
            continue
        dispute = known.get(name.removeprefix(_FIELD))
        positions = dispute.positions if dispute else ()
        taken = next((one.says for one in positions if text_id(one.says) == value), "")
        if not dispute or not taken:
            raise DecisionError(GONE)
        chosen.append((dispute.point, taken))
    return chosen


async def submit_decide_form(
    app: AppContext,
    chat: Chat,
    message: IncomingMessage,
    round_id: str,
    values: Mapping[str, str],
) -> None:
    """Decide what a submitted form chose."""
    round_ = await load_decidable(app, message, round_id)
    await _decide(app, chat, message, round_, chosen_in_form(round_, values))


DECIDE_FORM = FormAction(open_decide_form, submit_decide_form)


# --- The command


async def decide_command(
    app: AppContext, chat: Chat, message: IncomingMessage, arguments: Arguments
) -> None:
    """Show the disputed points of a round and the cost; with choices such as "1=A", decide."""
    found = await find_round_or_last(app, message, arguments.get("round", ""))
    round_ = await load_decidable(app, message, found.id)
    if choices := arguments.get("choices"):
        await _decide(app, chat, message, round_, typed_choices(round_, choices))
        return
    terms = await decision_terms(app, round_)
    post = choices_post(round_, terms, is_room=chat.is_room)
    await chat.send_ephemeral(message, with_names(post, round_))


def typed_choices(round_: Round, text: str) -> list[tuple[str, str]]:
    """Return the points and positions that "1=A 2=B" chooses; raise DecisionError for others."""
    disputes, chosen = disputed_points(round_), []
    for number, letter in _CHOICE.findall(text):
        if letter.lower() == OPEN:
            continue
        if not 0 < int(number[:9]) <= len(disputes):
            raise DecisionError(f"There is no point {number[:9]}. Points: 1 to {len(disputes)}.")
        dispute = disputes[int(number) - 1]
        positions = dict(lettered(dispute))
        if letter.upper() not in positions:
            known = ", ".join(positions)
            raise DecisionError(f"Point {number} has no position {letter[:9]}. Choose {known}.")
        chosen.append((dispute.point, positions[letter.upper()]))
    return chosen


async def _decide(
    app: AppContext, chat: Chat, message: IncomingMessage, round_: Round, wanted: Wanted
) -> None:
    """Decide, and post the result once it is written: below the answer, or in its place."""
    is_posted = chat.is_room and not chat.is_bound
    running = await begin_decision(app, message, round_, wanted, is_posted=is_posted)
    if running is None:
        await send_note(chat, message, DONE_ALREADY)
        return
    following = asyncio.create_task(follow_decision(running))
    await send_note(chat, message, WRITING)
    round_ = await following
    if is_posted:
        await follow_and_deliver(app, chat, round_.question.place, round_)
        return
    posts = [decision_post(round_, len(round_.decisions))]
    if round_.is_own(round_.decisions[-1]):
        root = round_post(round_)
        parts = tuple(part for part in root.parts if not isinstance(part, Buttons))
        posts.insert(0, replace(root, parts=parts))
    for post in posts:
        for page in chat.pages(with_names(post, round_)):
            await chat.send_ephemeral(message, page)


# --- The decision: checked, paid for, written and stored, once


@dataclass(frozen=True, slots=True)
class _Order:
    """A decision that was checked: what was chosen, by whom, and who pays."""

    message: IncomingMessage
    choices: tuple[Choice, ...]
    account: Account
    estimate: Estimate
    is_posted: bool


async def begin_decision(
    app: AppContext,
    message: IncomingMessage,
    round_: Round,
    wanted: Wanted,
    *,
    is_posted: bool = False,
) -> RunningDecision | None:
    """Start to write the answer with these decisions; None if this event has decided already.

    If it is just deciding, return that.

    With `is_posted`, messages in the round's place follow, so the round counts as undelivered until
    they are there. Raise DecisionError if nothing fits the map or somebody else is deciding,
    BudgetError or AccessDeniedError if the author of the message may not spend that.
    """
    choices = match_choices(round_, wanted)
    if any(decision.key == message.key for decision in round_.decisions):
        return None
    if running := app.decisions.get(round_.id):
        if running.key == message.key:
            return running
        raise DecisionError(BUSY)
    asked = replace(round_.question, asked_by=message.asker.id, place=message.place)
    await check_limits(app, asked)
    account = decision_account(round_, asked, message.key, app.now())
    estimate = await app.budget.accept_decision(round_, account, app.gateway)
    running = RunningDecision(round_, message.key)
    order = _Order(message, choices, account, estimate, is_posted)
    if app.decisions.get(round_.id) or not app.decisions.start(running, partial(_run, app, order)):
        await app.budget.ledger.release(message.key)
        raise DecisionError(BUSY)
    return running


async def follow_decision(running: RunningDecision) -> Round:
    """Return the round once the decision is stored; raise the error that it ended with."""
    last = running.state
    with running.subscription() as updates:
        async for snapshot in states(updates):
            last = snapshot
    return last.round_


async def last_failure(app: AppContext, round_id: str, asker_id: str) -> str:
    """Return why somebody's last decision on a round came to nothing; "" if it did not fail."""
    by, _, why = (await app.key_values.read(FAILED, round_id) or "").partition("\n")
    return why if by == asker_id else ""


async def _run(app: AppContext, order: _Order, running: RunningDecision) -> None:
    await app.key_values.pop(FAILED, running.id)
    try:
        await _write_once(app, order, running)
    except CouncilError as error:
        await app.key_values.put(FAILED, running.id, f"{order.message.asker.id}\n{error}")
        await app.key_values.prune(FAILED, MAX_FAILED)
        raise


async def _write_once(app: AppContext, order: _Order, running: RunningDecision) -> None:
    before = running.state.round_
    paying = app.budget.paying_decision(before, order.account, app.gateway, order.estimate)
    async with app.leader_lock(f"decide {before.id}") as is_ours, paying as gateway:
        round_ = await app.store.load(before.id)
        if not is_ours or len(round_.decisions) != len(before.decisions):
            raise DecisionError(MEANWHILE if is_ours else BUSY)
        check_not_forgotten(round_)
        await app.prepare(round_.panel)
        running.start_clock()
        services = RoundServices(gateway, app.store, on_text=running.show_draft)
        try:
            after = await _write_and_store(app, order, round_, services)
        except BaseException:
            services.late.cancel()
            raise
        running.show(after)
        await services.late.wait()


async def _write_and_store(
    app: AppContext, order: _Order, round_: Round, services: RoundServices
) -> Round:
    """Return the round with the decision, once the answer for it is written and stored."""
    written = await synthesize_decided(round_, order.choices, services)
    if written is None:
        raise DecisionError(NOBODY_WROTE)
    message = order.message
    decision = Decision(message.key, message.asker.id, app.now(), order.choices, written)
    if order.is_posted:  # so that a restart posts it, should this process end now
        await app.store.deliver(round_.id, delivered=False)
    if not await app.store.decide(round_.id, decision, len(round_.decisions) + 1):
        raise DecisionError(MEANWHILE)
    return replace(round_, decisions=(*round_.decisions, decision))
