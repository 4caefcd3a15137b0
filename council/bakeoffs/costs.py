"""Estimate the cost of one run of a suite before anything is spent."""

import asyncio
from datetime import UTC, datetime

from council.bakeoffs.models import Suite, with_method
from council.budget import Estimate, estimate_round
from council.panel import Panel
from council.ports import Gateway
from council.registry import NO_PLUGINS, Registry
from council.rounds import Question, Round

_ANY_TIME = datetime(1970, 1, 1, tzinfo=UTC)  # the time does not affect an estimate


async def estimate_run(
    suite: Suite, panel: Panel, gateway: Gateway, registry: Registry = NO_PLUGINS
) -> Estimate:
    """Return what asking a panel every question may cost, each round limited by the panel's cap."""
    micro, unknown = 0, dict[str, None]()
    for asked in suite.questions:
        await asyncio.sleep(0)  # a long suite must not block the event loop
        shown = asked.known_answer if suite.judges_see_references else ""
        question = Question(asked.text, context=asked.context, reference=shown, rubric=asked.rubric)
        under = with_method(panel, asked.method)
        round_ = Round("", question, under, "", _ANY_TIME, registry=registry)
        estimate = await estimate_round(round_, gateway)
        micro += estimate.capped(panel)
        unknown |= dict.fromkeys(estimate.unknown)
    return Estimate(micro, unknown=tuple(unknown))
