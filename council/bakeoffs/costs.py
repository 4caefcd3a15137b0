"""What one run of a suite may cost, before anything is spent."""

import asyncio
from datetime import UTC, datetime

from council.bakeoffs.models import Suite, SuiteQuestion
from council.budget import Estimate, estimated
from council.money import cap_micro
from council.panel import Panel
from council.ports import Gateway
from council.rounds import Question, Round

_ANY_TIME = datetime(1970, 1, 1, tzinfo=UTC)  # an estimate knows no time


async def run_estimate(suite: Suite, panel: Panel, gateway: Gateway) -> Estimate:
    """Give what putting every question to a panel may cost, each under the panel's own cap."""
    cap = panel.terms.max_round_usd
    most = None if cap is None else cap_micro(cap)
    micro, unknown = 0, dict[str, None]()
    for question in suite.questions:
        await asyncio.sleep(0)  # others have their turn while a long suite is priced
        one = await estimated(_round(suite, question, panel), gateway)
        micro += one.micro if most is None else min(most, one.micro)
        unknown |= dict.fromkeys(one.unknown)
    return Estimate(micro, unknown=tuple(unknown))


def _round(suite: Suite, question: SuiteQuestion, panel: Panel) -> Round:
    known = question.reference.value if question.reference else ""
    seen = known if suite.judges_see_references else ""
    asked = Question(question.text, context=question.context, reference=seen)
    return Round("", asked, panel, "", _ANY_TIME)
