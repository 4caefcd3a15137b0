"""Estimate the cost of one run of a suite before anything is spent."""

import asyncio
from datetime import UTC, datetime

from council.bakeoffs.models import Suite, SuiteQuestion
from council.budget import Estimate, estimate_round
from council.money import cap_micro_usd
from council.panel import Panel
from council.ports import Gateway
from council.rounds import Question, Round

_ANY_TIME = datetime(1970, 1, 1, tzinfo=UTC)  # the time does not affect an estimate


async def estimate_run(suite: Suite, panel: Panel, gateway: Gateway) -> Estimate:
    """Return what asking a panel every question may cost, each round limited by the panel's cap."""
    max_usd = panel.terms.max_round_usd
    max_micro = None if max_usd is None else cap_micro_usd(max_usd)
    micro, unknown = 0, dict[str, None]()
    for question in suite.questions:
        await asyncio.sleep(0)  # a long suite must not block the event loop
        estimate = await estimate_round(_round(suite, question, panel), gateway)
        micro += estimate.micro if max_micro is None else min(max_micro, estimate.micro)
        unknown |= dict.fromkeys(estimate.unknown)
    return Estimate(micro, unknown=tuple(unknown))


def _round(suite: Suite, question: SuiteQuestion, panel: Panel) -> Round:
    reference = ""
    if question.reference and suite.judges_see_references:
        reference = question.reference.value
    text = Question(question.text, context=question.context, reference=reference)
    return Round("", text, panel, "", _ANY_TIME)
