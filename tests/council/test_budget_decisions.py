"""A decision pays for itself: estimated as one call, charged to who decides, freed at the end."""

from dataclasses import replace

import pytest

from council.answers import Role
from council.budget import decision_account, estimate_decision
from council.budget_caps import CapUsage, Scope
from council.errors import BudgetError
from council.money import Price
from council.pipeline.session import RoundServices
from council.pipeline.synthesis import synthesize_decided
from council.rounds import Choice
from tests.builders import CLAUDE, GPT, a_round
from tests.council.test_budget import NOON, PRICE, PaidGateway, a_budget, cap_usage
from tests.disputes import BROKER, YES, a_disputed_round
from tests.fakes.memory_store import MemoryStore

ROUND = a_disputed_round()
BEN = decision_account(ROUND, replace(ROUND.question, asked_by="U2"), "e1", NOON)
ONE_CALL = 100


async def test_a_decision_is_estimated_as_its_dearest_chairmans_call() -> None:
    prices = {CLAUDE: PRICE, GPT: Price(1e-6, 2e-6, 100)}

    estimate = await estimate_decision(ROUND, PaidGateway(prices=prices))
    dear = await estimate_decision(ROUND, PaidGateway(prices={GPT: None}))

    assert estimate.micro > 200 + 2_000  # 100 tokens written, and more read than a decision adds
    assert dear.unknown == (GPT,)
    assert (await estimate_decision(a_round(), PaidGateway())).micro == ONE_CALL


async def test_who_decides_pays_and_the_rest_is_freed() -> None:
    budget, gateway = a_budget(), PaidGateway(30e-6)

    accepted = await budget.accept_decision(ROUND, BEN, gateway)
    reserved = await cap_usage(budget)
    async with budget.paying_decision(ROUND, BEN, gateway, accepted) as paid:
        services = RoundServices(paid, MemoryStore())
        assert await synthesize_decided(ROUND, (Choice(BROKER, YES),), services)

    assert reserved == CapUsage(0, ONE_CALL)
    assert await cap_usage(budget) == CapUsage(30, 0)
    assert (await budget.ledger.usage(BEN))[Scope.USER_DAY] == CapUsage(30, 0)
    assert len(gateway.of(Role.SYNTHESIS)) == 1


async def test_a_decision_over_budget_is_refused() -> None:
    budget = a_budget(user_day=ONE_CALL - 1)

    with pytest.raises(BudgetError, match="of your budget of"):
        await budget.accept_decision(ROUND, BEN, PaidGateway())

    assert await cap_usage(budget) == CapUsage()


async def test_a_chairman_without_a_price_is_refused_where_prices_must_be_known() -> None:
    budget = a_budget(unknown_prices=False)

    with pytest.raises(BudgetError, match="price of"):
        await budget.accept_decision(ROUND, BEN, PaidGateway(prices={GPT: None}))
