"""The estimate of a run is the sum of its rounds' estimates."""

from dataclasses import replace

from council.bakeoffs.costs import estimate_run
from council.bakeoffs.models import Grading, Reference, Suite, SuiteQuestion
from council.budget import estimate_round
from council.money import Price
from council.rounds import Question
from tests.builders import CLAUDE, GEMINI, GPT, a_panel, a_round
from tests.fakes.gateway import FakeGateway

PRICES = {CLAUDE: Price(3e-6, 15e-6), GPT: Price(1e-6, 8e-6), GEMINI: None}
QUESTIONS = (SuiteQuestion("Why?"), SuiteQuestion("How long, and why?", context="It is long."))


async def test_a_run_costs_what_its_rounds_cost() -> None:
    gateway, panel = FakeGateway(prices=PRICES), a_panel()
    each = [
        await estimate_round(a_round(question=Question(q.text, context=q.context)), gateway)
        for q in QUESTIONS
    ]

    run = await estimate_run(Suite("sql", QUESTIONS), panel, gateway)

    assert run.micro == sum(one.micro for one in each) > 0
    assert run.unknown == (GEMINI,)


async def test_no_round_of_it_costs_more_than_the_panel_allows() -> None:
    panel = a_panel(terms=replace(a_panel().terms, max_round_usd=0.001))

    run = await estimate_run(Suite("sql", QUESTIONS), panel, FakeGateway(prices=PRICES))

    assert run.micro == 2 * 1_000


async def test_a_reference_that_judges_see_is_paid_for() -> None:
    graded = (replace(QUESTIONS[0], reference=Reference(Grading.EXACT, "Because. " * 50)),)
    hidden, seen = Suite("sql", graded), Suite("sql", graded, judges_see_references=True)
    gateway = FakeGateway(prices=PRICES)

    costs = [(await estimate_run(one, a_panel(), gateway)).micro for one in (hidden, seen)]

    assert costs[0] < costs[1]
