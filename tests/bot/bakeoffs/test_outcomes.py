"""What earlier bake-offs tell: their outcome in a list, and what the next one usually costs."""

from dataclasses import replace
from datetime import timedelta

from bot.bakeoffs.outcomes import load_outcome, usual_cost
from bot.bakeoffs.parts import OutcomeCache, bakeoff_stores
from bot.bakeoffs.render.bakeoffs import run_cost_text
from bot.bakeoffs.runner import estimate_bakeoff
from bot.context import AppContext
from council.bakeoffs.models import BakeoffEstimate, BakeoffProgress
from tests.bot.app_fakes import an_app
from tests.bot.bakeoffs.fakes import a_bakeoff, a_suite, run_to_end
from tests.bot.bakeoffs.test_runner_budget import PRICES, a_paying_app
from tests.builders import ASKED_AT, a_panel
from tests.fakes.gateway import FakeGateway


async def ran(app: AppContext) -> None:
    await run_to_end(app, bakeoff=a_bakeoff(a_suite(2)))


async def test_a_bakeoff_that_runs_has_no_outcome_yet() -> None:
    app = an_app(FakeGateway())

    assert await load_outcome(app, BakeoffProgress(a_bakeoff())) == ""


async def test_an_outcome_is_worked_out_once() -> None:
    app = an_app(FakeGateway())
    await ran(app)
    ended = await bakeoff_stores(app).bakeoffs.load("bo:beef")

    found = await load_outcome(app, BakeoffProgress(ended, 2))
    kept = app.parts.get(OutcomeCache).sentences

    assert found.startswith("By the judges’ points, ")
    assert [*kept.values()] == [found]
    kept[next(iter(kept))] = "as it was"
    assert await load_outcome(app, BakeoffProgress(ended, 2)) == "as it was"


async def test_the_usual_cost_is_that_of_earlier_runs_by_the_same_panel() -> None:
    app = a_paying_app(FakeGateway(prices=PRICES))
    later = replace(a_bakeoff(a_suite(4), id_="bo:cafe"), at=ASKED_AT + timedelta(days=1))
    assert await usual_cost(app, later) is None
    await ran(app)

    ids = ["bo:beef.1", "bo:beef.2"]
    spent = await app.budget.ledger.spent_by_round(ids)
    usual = await usual_cost(app, later)

    assert usual == 2 * sum(one.micro for one in spent.values()) > 0
    assert (await estimate_bakeoff(app, later)).usual_micro == usual
    other = replace(later, panel=replace(a_panel(), members=a_panel().members[:2]))
    assert await usual_cost(app, other) is None


def test_the_cost_says_what_is_usual_and_what_is_the_most() -> None:
    from_runs = BakeoffEstimate(5_790_000, usual_micro=250_000)

    assert run_cost_text(from_runs, []) == "Usually $0.25, never more than $5.79"
    assert run_cost_text(BakeoffEstimate(5_790_000), []) == "Usually $2.90, never more than $5.79"
    assert run_cost_text(BakeoffEstimate(0), []) == "It costs nothing"
    assert run_cost_text(from_runs, ["Qwen 3"]).endswith("cost unknown for Qwen 3")
