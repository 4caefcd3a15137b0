"""The command `bakeoff try`: propose and start a trial of a candidate on a suite."""

import json
from dataclasses import replace

from bot.access import check_panel
from bot.bakeoffs.commands.bakeoffs import (
    bakeoff_of,
    load_suite_to_run,
    parse_cap_text,
    start_bakeoff,
)
from bot.bakeoffs.commands.suites import check_own_people
from bot.bakeoffs.parts import bakeoff_settings, bakeoff_stores
from bot.bakeoffs.render.trials import trial_proposal_post
from bot.bakeoffs.runner import new_question_round
from bot.bakeoffs.trials import (
    Reuse,
    estimate_rounds,
    expected_spread,
    find_reusable,
    trial_of,
    with_answers,
)
from bot.chat import Chat, IncomingMessage
from bot.commands.parameters import Arguments
from bot.context import AppContext, usual_seconds
from council.bakeoffs.graders import check_graders
from council.bakeoffs.models import Bakeoff, BakeoffEstimate, Suite
from council.bakeoffs.trial import trial_panel
from council.errors import BakeoffError, SuiteError
from council.panel import Panel

PROPOSED = "trial"  # the kind of memo that holds a proposed trial
PROPOSE_AGAIN = "Run `/council bakeoff try` again to see the current cost."

Plan = tuple[Reuse, BakeoffEstimate, float]


def new_trial(
    app: AppContext, message: IncomingMessage, suite: Suite, panel: Panel, pair: tuple[str, str]
) -> Bakeoff:
    """Return a trial that is not stored yet, of a candidate against an incumbent, "" for the first.

    Raise PanelError for a candidate that can't be asked, SuiteError for a suite that can't decide,
    AccessDeniedError where its provider is not allowed.
    """
    check_own_people(message)
    check_graders(suite, app.registry)
    candidate, incumbent = pair
    chosen = trial_panel(panel, suite, app.seat(candidate), incumbent)
    check_panel(app.access, message.place, chosen)
    if any(question.rubric for question in suite.questions) and not chosen.outside_judges:
        raise SuiteError(
            f"Suite {suite.name} has questions that outside judges grade, and panel {panel.name!r} "
            "has none left. Add models that are not its members as its outside_judges."
        )
    return bakeoff_of(app, message, suite, chosen)


async def plan_trial(app: AppContext, bakeoff: Bakeoff) -> Plan:
    """Return what a trial uses again, what it costs at most, and how much answers may differ."""
    reuse = await find_reusable(app, bakeoff)
    rounds = (
        with_answers(new_question_round(app, bakeoff, number), reuse) for number in bakeoff.numbers
    )
    cost = await estimate_rounds(app, rounds)
    usual = await usual_seconds(app.store, bakeoff.panel.name)
    at_once = min(len(bakeoff.numbers), bakeoff_settings(app).rounds_at_once)
    seconds = None if usual is None else usual * len(bakeoff.numbers) / at_once
    estimate = BakeoffEstimate(cost.micro, cost.unknown, seconds)
    return reuse, estimate, await expected_spread(app, bakeoff, trial_of(bakeoff))


async def propose_trial(
    app: AppContext, chat: Chat, message: IncomingMessage, arguments: Arguments
) -> None:
    """Show what a trial can show and costs, and how to start it; with `now`, start it."""
    cap = parse_cap_text(arguments["cap"]) if "cap" in arguments else None
    suite = await load_suite_to_run(app, message.place, arguments["suite"])
    await app.reload_settings(message.place)
    panel = app.panel(arguments.get("panel"), message.place)
    pair = arguments["model"], arguments.get("incumbent", "")
    bakeoff = replace(new_trial(app, message, suite, panel, pair), cap_micro=cap)
    if "now" in arguments:
        await start_bakeoff(app, chat, message, bakeoff)
        return
    plan = await plan_trial(app, bakeoff)
    value = await store_proposal(app, bakeoff)
    post = trial_proposal_post(bakeoff, trial_of(bakeoff), plan, value)
    await chat.send_ephemeral(message, post)


async def store_proposal(app: AppContext, bakeoff: Bakeoff) -> str:
    """Store a proposed trial, and return the value of its button: the key of a memo."""
    trial = trial_of(bakeoff)
    document = {
        "model": trial.candidate,
        "incumbent": trial.incumbent,
        "suite": bakeoff.suite.name,
        "version": bakeoff.suite.version,
        "panel": bakeoff.panel.name,
        "cap": bakeoff.cap_micro,
    }
    key = bakeoff.id.removeprefix("bo:")
    await app.key_values.put(PROPOSED, f"{bakeoff.place.scope}/{key}", json.dumps(document))
    return key


async def proposed_trial(app: AppContext, message: IncomingMessage, value: str) -> Bakeoff:
    """Return the trial that a button proposes, asked by the presser; raise BakeoffError."""
    stored = await app.key_values.read(PROPOSED, f"{message.place.scope}/{value}")
    if stored is None:
        raise BakeoffError(f"This button can't be read any more. {PROPOSE_AGAIN}")
    memo = json.loads(stored)
    suite = await bakeoff_stores(app).suites.load(message.place.scope, memo["suite"])
    if suite.version != memo["version"]:
        raise BakeoffError(
            f"Suite {suite.name} has changed since you saw the cost. {PROPOSE_AGAIN}"
        )
    panel = app.panel(memo["panel"], message.place)
    pair = memo["model"], memo["incumbent"]
    bakeoff = new_trial(app, replace(message, key=value), suite, panel, pair)
    return replace(bakeoff, cap_micro=memo["cap"])


async def start_proposed_trial(
    app: AppContext, chat: Chat, message: IncomingMessage, value: str
) -> None:
    """Start a proposed trial, once."""
    await start_bakeoff(app, chat, message, await proposed_trial(app, message, value))
