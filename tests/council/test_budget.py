"""A round spends no more than is left: cost is reserved before, settled after, freed at the end."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from council.answers import Call, Prompt, Reply, Role
from council.budget import Budget
from council.budget_caps import Account, Caps, CapUsage, ChosenCaps, OwnBudget, Scope
from council.errors import BudgetError, GatewayError, StoreError, UncoveredError
from council.money import Price, Spending
from council.panel import Terms
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.places import Place
from council.ports import Gateway
from council.rounds import Closing, Question, Round
from tests.builders import CLAUDE, GEMINI, GPT, a_member, a_panel, a_round
from tests.fakes.gateway import FakeGateway, Hangs, ReadPrompt
from tests.fakes.memory_ledger import MemoryLedger
from tests.fakes.memory_store import MemoryStore

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
SEATS = (CLAUDE, GPT, GEMINI)
PRICE = Price(0, 1e-6, 100)  # a call costs 100 micro-dollars at most
WHOLE = 7 * 100  # three answers, three ballots, a synthesis


class PaidGateway(FakeGateway):
    """A fake whose every reply costs the same; None is a cost that nobody knows."""

    def __init__(self, usd: float | None = 100e-6, **script: object) -> None:
        prices: Mapping[str, Price | None] = dict.fromkeys(SEATS, PRICE)
        super().__init__(**{"prices": prices, **script})  # type: ignore[arg-type]
        self.usd = usd

    async def complete(self, call: Call) -> Reply:
        return replace(await super().complete(call), cost_usd=self.usd)


def a_budget(**caps: int | bool) -> Budget:
    return Budget(MemoryLedger(), Caps(**caps), lambda: NOON)  # type: ignore[arg-type]


async def cap_usage(budget: Budget) -> CapUsage:
    return (await budget.ledger.usage(Account("", NOON.date())))[Scope.DAY]


async def run_in_budget(budget: Budget, round_: Round, gateway: Gateway) -> Round:
    """Accept a round and hold it."""
    store = MemoryStore()
    await budget.accept(round_, gateway)
    await store.open(round_)
    async with budget.paying(round_, gateway) as paid:
        return await run_round(round_.id, RoundServices(paid, store))


def a_capped_round(usd: float, **terms: object) -> Round:
    return a_round(a_panel(terms=Terms(max_round_usd=usd, **terms)))  # type: ignore[arg-type]


def absence_reasons(round_: Round, role: Role) -> list[str]:
    return [absence.reason for absence in round_.absences if absence.role is role]


async def test_a_round_reserves_its_whole_estimate_before_it_starts() -> None:
    budget = a_budget()

    await budget.accept(a_round(), PaidGateway())

    assert await cap_usage(budget) == CapUsage(0, WHOLE)


async def test_unspent_money_is_released() -> None:
    budget = a_budget()

    await run_in_budget(budget, a_round(), PaidGateway(30e-6))

    assert await cap_usage(budget) == CapUsage(7 * 30, 0)


async def test_a_round_over_budget_is_refused_in_a_sentence() -> None:
    budget = a_budget(day=WHOLE - 1)

    with pytest.raises(BudgetError, match=r"may cost \$0.0007, but only \$0.000699 is left of the"):
        await budget.accept(a_round(), PaidGateway())

    assert await cap_usage(budget) == CapUsage()


async def test_a_channels_own_cap_overrides_the_general_one() -> None:
    budget = replace(a_budget(), caps=Caps(channel_day=WHOLE - 1, channels={"C1": WHOLE}))
    here, there = (Question("Why?", "U1", place=Place("slack", "T1", c)) for c in ("C1", "C2"))

    await run_in_budget(budget, a_round(question=here), PaidGateway())

    for round_id, question in (("r2", here), ("r3", there)):
        with pytest.raises(BudgetError, match="of this channel's budget of"):
            await budget.accept(replace(a_round(question=question), id=round_id), PaidGateway())


async def test_a_cap_that_admins_chose_is_the_one_of_now() -> None:
    chosen = {"slack/T1": ChosenCaps()}

    async def choose(account: Account) -> ChosenCaps:
        return chosen[account.workspace]

    budget = replace(a_budget(), chosen_caps=choose)
    here = Question("Why?", "U1", place=Place("slack", "T1", "C1"))
    await budget.accept(a_round(question=here), PaidGateway())

    chosen["slack/T1"] = ChosenCaps(workspace_day=WHOLE)

    with pytest.raises(BudgetError, match="of this workspace's budget of"):
        await budget.accept(replace(a_round(question=here), id="r2"), PaidGateway())


async def test_a_free_round_fits_an_exhausted_budget() -> None:
    budget = a_budget(day=0)

    closed = await run_in_budget(budget, a_round(), FakeGateway())

    assert closed.synthesis
    assert await budget.ledger.list_reserved_rounds() == ()


async def test_unknown_prices_can_be_forbidden() -> None:
    gateway = FakeGateway(prices={GPT: None})

    with pytest.raises(BudgetError, match=r"The price of GPT-5.1 is unknown, and unknown prices"):
        await a_budget(unknown_prices=False).accept(a_round(), gateway)


async def test_calls_of_unknown_cost_are_counted_and_never_free() -> None:
    budget = a_budget(day=0)
    gateway = FakeGateway(prices={GPT: None})

    closed = await run_in_budget(budget, a_round(), gateway)

    assert closed.synthesis
    assert await cap_usage(budget) == CapUsage(0, 0, unknown_calls=2)


async def test_a_reply_without_a_cost_counts_for_its_maximum() -> None:
    budget = a_budget()

    await run_in_budget(budget, a_round(), PaidGateway(None))

    assert await cap_usage(budget) == CapUsage(WHOLE)


async def test_a_cost_is_settled_soon_without_the_end_of_its_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("council.budget.SETTLE_DELAY_SECONDS", 0)
    budget, gateway = a_budget(), PaidGateway()
    await budget.accept(a_round(), gateway)

    async with budget.paying(a_round(), gateway) as paid:
        await paid.complete(Call(a_member(CLAUDE), Prompt("", "Why?")))
        for _ in range(10):  # until it is stored
            await asyncio.sleep(0)

        assert (await cap_usage(budget)).spent == 100


async def test_a_failed_call_has_an_unknown_cost() -> None:
    budget = a_budget()

    await run_in_budget(budget, a_round(), PaidGateway(answers={GPT: GatewayError("hung up")}))

    # Two answers, the ballot of the one judge that sees both, and the synthesis.
    assert await cap_usage(budget) == CapUsage(4 * 100, 0, unknown_calls=1)


async def test_a_call_beyond_the_round_cap_is_not_made() -> None:
    budget, gateway = a_budget(), PaidGateway()

    closed = await run_in_budget(budget, a_capped_round(500e-6), gateway)

    assert len(gateway.asked) == 5
    reason = "was not asked: the round's budget of $0.0005 is used up"
    assert absence_reasons(closed, Role.BALLOT) == [reason]
    assert absence_reasons(closed, Role.SYNTHESIS) == [reason] * 3
    assert closed.synthesis
    assert closed.synthesis.chairman is None
    assert await cap_usage(budget) == CapUsage(500)


async def test_calls_in_flight_count_against_the_round_cap() -> None:
    gateway = PaidGateway(answers=dict.fromkeys(SEATS, Hangs()))
    terms = {"answer_seconds": 0.01, "quorum": 1}

    closed = await run_in_budget(a_budget(), a_capped_round(250e-6, **terms), gateway)

    assert len(gateway.asked) == 2
    assert any("was not asked" in reason for reason in absence_reasons(closed, Role.ANSWER))


async def test_a_round_reserves_at_most_its_own_cap() -> None:
    budget = a_budget(day=500)

    await budget.accept(a_capped_round(500e-6), PaidGateway())

    assert await cap_usage(budget) == CapUsage(0, 500)


async def test_a_cap_too_small_for_a_quorum_refuses_the_round() -> None:
    with pytest.raises(BudgetError, match=r"A quorum of answers may cost \$0.0002, but panel"):
        await a_budget().accept(a_capped_round(199e-6), PaidGateway())


def reply_without_ballot(_: ReadPrompt) -> str:
    return "I rank none."


async def test_a_second_attempt_is_reserved_when_it_happens() -> None:
    budget = a_budget(day=WHOLE + 100)
    gateway = PaidGateway(judges={GPT: [reply_without_ballot, lambda shown: shown.ballot("")]})

    closed = await run_in_budget(budget, a_round(), gateway)

    assert len(closed.ballots) == 3
    assert await cap_usage(budget) == CapUsage(WHOLE + 100)


async def test_a_second_attempt_over_budget_is_not_made() -> None:
    budget = a_budget(day=WHOLE)
    gateway = PaidGateway(judges={GPT: [reply_without_ballot, reply_without_ballot]})

    closed = await run_in_budget(budget, a_round(), gateway)

    # The synthesis comes after the second try, which had taken its share.
    assert await cap_usage(budget) == CapUsage(WHOLE)
    assert (
        absence_reasons(closed, Role.SYNTHESIS)
        == ["was not asked: the budget of $0.0007 a day is used up"] * 3
    )


async def test_a_resumed_round_takes_over_its_reservation_after_a_crash() -> None:
    budget, round_ = a_budget(day=WHOLE), a_round()
    await budget.accept(round_, PaidGateway())
    await budget.ledger.settle(Account.of(round_, NOON), 100)  # and then the process died

    async with budget.paying(round_, PaidGateway()):
        during = await cap_usage(budget)

    assert during == CapUsage(100, WHOLE - 100)
    assert await cap_usage(budget) == CapUsage(100)


async def test_a_stopped_round_releases_its_reservation_and_reserves_again_on_resume() -> None:
    budget, round_ = a_budget(day=WHOLE), a_round()
    gateway = PaidGateway(answers={GPT: Hangs()})
    store = MemoryStore()
    await budget.accept(round_, gateway)
    await store.open(round_)

    reached = asyncio.Event()

    def on_round(now: Round) -> None:
        if len(now.answers) == 2:
            reached.set()

    async def run() -> None:
        async with budget.paying(round_, gateway) as paid:
            await run_round(round_.id, RoundServices(paid, store, on_round=on_round))

    task = asyncio.create_task(run())
    await reached.wait()
    task.cancel()
    await asyncio.wait([task])
    assert await cap_usage(budget) == CapUsage(200, 0, unknown_calls=1)

    async with budget.paying(round_, gateway):
        assert await cap_usage(budget) == CapUsage(200, WHOLE - 200, unknown_calls=1)


async def test_a_call_that_still_runs_at_the_end_is_booked_at_the_most_it_can_cost() -> None:
    budget, round_ = a_budget(), a_round()
    answers, prices = dict.fromkeys((GPT, CLAUDE), Hangs()), {GPT: PRICE, CLAUDE: None}
    gateway = PaidGateway(answers=answers, prices=prices)

    async with budget.paying(round_, gateway) as paid:
        running = [
            asyncio.create_task(paid.complete(Call(round_.panel.seat(key), Prompt("", "Why?"))))
            for key in (GPT, CLAUDE)
        ]
        for _ in range(10):  # until both are asked
            await asyncio.sleep(0)
    booked = await cap_usage(budget)
    for call in running:
        call.cancel()
    await asyncio.wait(running)

    assert len(gateway.asked) == len(running)
    assert booked == CapUsage(PRICE.cost_micro_usd(0, 100), 0, unknown_calls=1)
    assert await cap_usage(budget) == booked


async def test_a_round_over_budget_cannot_be_resumed() -> None:
    budget = a_budget(day=WHOLE)
    await budget.accept(replace(a_round(), id="r2"), PaidGateway())

    with pytest.raises(BudgetError, match="once a running round ends"):
        async with budget.paying(a_round(), PaidGateway()):
            pass


async def test_a_closed_round_reserves_nothing() -> None:
    budget = a_budget(day=0)

    async with budget.paying(a_round().with_(Closing(1.0)), PaidGateway()) as gateway:
        assert isinstance(gateway, PaidGateway)

    assert await cap_usage(budget) == CapUsage()


async def test_a_sweep_releases_what_belongs_to_no_open_round() -> None:
    budget, store = a_budget(), MemoryStore()
    rounds = {name: replace(a_round(), id=name) for name in ("open", "closed", "never stored")}
    for round_ in rounds.values():
        await budget.accept(round_, PaidGateway())
    await store.open(rounds["open"])
    await store.open(rounds["closed"])
    await store.save("closed", Closing(1.0))

    await budget.sweep(store)

    assert await budget.ledger.list_reserved_rounds() == ("open",)


async def test_a_sweep_waits_for_rounds_being_stored_by_other_processes() -> None:
    budget, store = a_budget(), MemoryStore()
    await budget.accept(a_round(), PaidGateway())

    async def settle() -> None:
        await store.open(a_round())

    await budget.sweep(store, settle)

    assert await budget.ledger.list_reserved_rounds() == ("r1",)


class TamperedStore(MemoryStore):
    """A store in which nobody can read a round."""

    async def load(self, round_id: str) -> Round:
        raise StoreError("has invalid values")


async def test_a_sweep_keeps_the_reservation_of_an_unreadable_round() -> None:
    budget = a_budget()
    await budget.accept(a_round(), PaidGateway())

    await budget.sweep(TamperedStore())

    assert await budget.ledger.list_reserved_rounds() == ("r1",)


async def test_a_failed_release_does_not_fail_the_round() -> None:
    class Jammed(MemoryLedger):
        async def release(self, round_id: str) -> None:
            raise StoreError("The disk is full.")

    budget = Budget(Jammed(), Caps(), lambda: NOON)

    closed = await run_in_budget(budget, a_round(), PaidGateway())

    assert closed.closing


async def test_a_budgeted_gateway_delegates_to_its_gateway() -> None:
    gateway = PaidGateway(contexts={GPT: 4096})

    async with a_budget().paying(a_round(), gateway) as paid:
        seat = a_panel().seat(GPT)
        assert paid.versions == gateway.versions
        assert paid.context_tokens(GPT) == 4096
        assert await paid.price(seat) == PRICE


APART = Account("bx:1", NOON.date(), "you")


def a_call(key: str = CLAUDE) -> Call:
    return Call(a_member(key), Prompt("", ""))


async def test_work_outside_rounds_pays_per_call_and_reserves_nothing() -> None:
    budget, gateway = a_budget(day=1000), PaidGateway(40e-6)

    async with budget.budget_gateway(APART, gateway, None, of="experiment") as paid:
        await paid.complete(a_call())
        await paid.complete(a_call(GPT))
        during = await cap_usage(budget)

    assert (during.spent, during.total) == (0, 140)  # 40 spent and not settled yet, 100 at most
    assert (await cap_usage(budget)).total == 80
    assert await budget.ledger.spent("bx:1") == Spending(80)


async def test_the_cap_of_work_outside_rounds_covers_everything_it_spends() -> None:
    budget, gateway = a_budget(), PaidGateway(100e-6)
    for _ in range(2):
        async with budget.budget_gateway(APART, gateway, 250, of="experiment") as paid:
            await paid.complete(a_call())

    async with budget.budget_gateway(APART, gateway, 250, of="experiment") as paid:
        with pytest.raises(
            UncoveredError, match=r"the experiment's budget of \$0\.00025 is used up"
        ):
            await paid.complete(a_call())

    assert len(gateway.asked) == 2


async def test_an_askers_own_cap_replaces_that_of_every_asker() -> None:
    async def own_budget(asker: str) -> OwnBudget | None:
        return {"api:ci": OwnBudget(WHOLE), "api:other": OwnBudget()}.get(asker)

    budget = Budget(MemoryLedger(), Caps(user_day=1), lambda: NOON, own_budget)
    capped, other = (
        replace(a_round(question=Question("Why?", asker)), id=asker)
        for asker in ("api:ci", "api:other")
    )

    closed = await run_in_budget(budget, capped, PaidGateway())

    assert closed.synthesis
    with pytest.raises(BudgetError, match="your budget of") as refused:
        await budget.accept(other, PaidGateway())
    assert refused.value.retry_at == datetime(2026, 11, 22, tzinfo=UTC)
    with pytest.raises(BudgetError, match="only"):
        await budget.accept(replace(capped, id="r2"), PaidGateway())


async def test_who_shares_a_budget_spends_it_together_and_no_more_than_an_own_cap() -> None:
    async def own_budget(asker: str) -> OwnBudget | None:
        return {
            "api:ci": OwnBudget(shared_with="web:home"),
            "api:small": OwnBudget(WHOLE - 1, "web:home"),
        }.get(asker)

    def asked_by(asker: str, id_: str) -> Round:
        place = Place("web", channel=asker)
        return replace(a_round(question=Question("Why?", asker, place=place)), id=id_)

    budget = Budget(MemoryLedger(), Caps(user_day=2 * WHOLE), lambda: NOON, own_budget)

    with pytest.raises(BudgetError, match=r"your budget of \$0\.000699 a day"):
        await budget.accept(asked_by("api:small", "r1"), PaidGateway())
    assert (await run_in_budget(budget, asked_by("api:ci", "r2"), PaidGateway())).synthesis
    assert (await run_in_budget(budget, asked_by("web:home.ana", "r3"), PaidGateway())).synthesis
    for asker in ("api:ci", "web:home.ana", "web:home.ben"):
        with pytest.raises(BudgetError, match=r"your budget of \$0\.0014 a day"):
            await budget.accept(asked_by(asker, "r4"), PaidGateway())
    await budget.accept(asked_by("web:away.eve", "r5"), PaidGateway())


@pytest.mark.parametrize(("general", "least"), [(None, 5), (3, 3), (9, 5)])
def test_a_shared_budgets_own_cap_never_raises_that_of_its_channel(
    general: int | None, least: int
) -> None:
    own = OwnBudget(5, "web:home")

    account, caps = own.apply(Account("r1", NOON.date(), "api:ci"), Caps(channel_day=general))

    assert (account.asker, caps.channel_day, caps.user_day) == ("web:home", least, None)
