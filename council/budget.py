"""What a round may cost, before anything is spent."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime

from council.answers import Call, Prompt, Reply
from council.budget_caps import Account, Caps
from council.errors import BudgetError, RoundNotFoundError, StoreError, UncoveredError
from council.labels import Label
from council.money import Price, about, cap_micro, cost_micro_usd, dollars
from council.panel import Member, Panel
from council.ports import Gateway, Ledger, Store
from council.prompts.answer import answer_prompt
from council.prompts.ballot import BallotPrompt, judge_prompt
from council.prompts.shared import estimated_tokens
from council.prompts.synthesis import JudgesReport, chair_prompt
from council.rounds import Round

# --- What a round may cost, before anything is spent.

MAX_TEXT_TOKENS = 2_000  # more than most answers have, reasoning included
MAX_BALLOT_TOKENS = 1_000
MIN_TO_RANK = 2
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NONCE = "0" * 16

Prices = Mapping[str, Price | None]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a round may cost, in micro-dollars.

    `micro` covers the seats whose price is known, `quorum_micro` the cheapest answers that make a
    quorum; `unknown` are the keys of the seats whose price nobody knows.
    """

    micro: int
    quorum_micro: int = 0
    unknown: tuple[str, ...] = ()


async def estimated(round_: Round, gateway: Gateway) -> Estimate:
    """Give what a round may cost, at the gateway's prices."""
    panel = round_.panel
    seats = dict.fromkeys((*panel.judges, *panel.chair_order))
    prices = {seat.key: await gateway.price(seat) for seat in seats}
    answers = _answers(round_, prices)
    ballots = [_ballot(round_, judge, prices) for judge in panel.judges]
    syntheses = [_synthesis(round_, chairman, prices) for chairman in panel.chair_order]
    return Estimate(
        sum(answers) + sum(ballots) + max(syntheses),
        sum(sorted(answers)[: panel.terms.quorum]),
        tuple(key for key, price in prices.items() if price is None),
    )


def call_cost_micro_usd(price: Price, call: Call) -> int:
    """Give what a call may cost, in micro-dollars; what asks for a schema is a ballot."""
    return price.micro(
        prompt_tokens(call.prompt), reply_tokens(price, ballot=call.schema is not None)
    )


def prompt_tokens(prompt: Prompt) -> int:
    """Give how many tokens a prompt takes at most."""
    return estimated_tokens(prompt.system + prompt.user)


def reply_tokens(price: Price | None, *, ballot: bool = False) -> int:
    """Give how many tokens a seat of this price writes at most, as far as anybody knows."""
    if price and price.most_tokens_out is not None:
        return price.most_tokens_out
    return MAX_BALLOT_TOKENS if ballot else MAX_TEXT_TOKENS


def _answers(round_: Round, prices: Prices) -> list[int]:
    asked = prompt_tokens(answer_prompt(round_.question))
    priced = (prices[member.key] for member in round_.panel.members)
    return [price.micro(asked, reply_tokens(price)) if price else 0 for price in priced]


def _ballot(round_: Round, judge: Member, prices: Prices) -> int:
    price = prices[judge.key]
    others = [member for member in round_.panel.members if member != judge]
    if price is None or len(others) < MIN_TO_RANK:
        return 0
    texts = dict.fromkeys(_LETTERS[: len(others)], "")
    frame = judge_prompt(round_.question, round_.panel.rubric, BallotPrompt(texts, _NONCE))
    shown = sum(reply_tokens(prices[member.key]) for member in others)
    return price.micro(prompt_tokens(frame) + shown, reply_tokens(price, ballot=True))


def _synthesis(round_: Round, chairman: Member, prices: Prices) -> int:
    price = prices[chairman.key]
    if price is None:
        return 0
    members = round_.panel.members
    texts = {Label(letter): "" for letter in _LETTERS[: len(members)]}
    frame = chair_prompt(round_.question, texts, JudgesReport(), _NONCE, plain=False)
    shown = sum(reply_tokens(prices[member.key]) for member in members)
    said = sum(reply_tokens(prices[judge.key], ballot=True) for judge in round_.panel.judges)
    return price.micro(prompt_tokens(frame) + shown + said, reply_tokens(price))


# --- A gateway before another one, which it leaves everything to but the calls.


class GatewayWrapper:
    """What every gateway says as the one behind it does; whoever extends it makes the calls."""

    __slots__ = ()

    gateway: Gateway

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the gateway behind it."""
        return self.gateway.versions

    def context_tokens(self, member_key: str) -> int | None:
        """Give what the gateway behind it says."""
        return self.gateway.context_tokens(member_key)

    async def price(self, seat: Member) -> Price | None:
        """Give what the gateway behind it says."""
        return await self.gateway.price(seat)


# --- A round's own way to models, on which no call is made that is not paid for.

SETTLE_DELAY_SECONDS = 0.1


@dataclass(slots=True)
class BudgetedGateway(GatewayWrapper):
    """A round's own way to models: a call that its budgets do not cover is not made.

    `cap` is the round's own, or that of what else it is `of`; `reserved` and `spent` are its totals
    so far, and `owed` what is not in the ledger yet.
    """

    gateway: Gateway
    ledger: Ledger
    caps: Caps
    account: Account
    cap: int | None
    reserved: int
    spent: int
    in_flight: int = 0
    unsettled_costs: list[int | None] = field(default_factory=list)
    settle_tasks: list[asyncio.Task[None]] = field(default_factory=list)
    of: str = "round"

    async def complete(self, call: Call) -> Reply:
        """Give the model's reply, its cost settled soon after; UncoveredError if it is not covered.

        A reply without a cost counts for the most it can have cost; without a price, and for a
        call that was sent and brought no reply, nobody knows.
        """
        price = await self.gateway.price(call.member)
        if price and price.is_free:
            return await self.gateway.complete(call)
        most = call_cost_micro_usd(price, call) if price else 0
        self.in_flight += most
        sent, cost = False, None
        try:
            await self._cover()
            sent = True
            reply = await self.gateway.complete(call)
            cost = (
                (most if price else None)
                if reply.cost_usd is None
                else cost_micro_usd(reply.cost_usd)
            )
            return reply
        finally:
            self.in_flight -= most
            self.spent += cost or 0
            if sent:
                self._owe(cost)

    async def settled(self) -> None:
        """Wait until every cost is in the ledger; raise StoreError if one cannot be."""
        await asyncio.gather(*self.settle_tasks)

    def _owe(self, cost: int | None) -> None:
        self.unsettled_costs.append(cost)
        if len(self.unsettled_costs) == 1:
            self.settle_tasks.append(asyncio.create_task(self._settle_soon()))

    async def _settle_soon(self) -> None:
        # The reply is kept first: what it says is lost with the process, what it cost is reserved.
        await asyncio.sleep(SETTLE_DELAY_SECONDS)
        owed, self.unsettled_costs = self.unsettled_costs, []
        await self.ledger.settle(self.account, *owed)

    async def _cover(self) -> None:
        """Have what is spent and in flight within the round's cap, and reserved."""
        needed = self.spent + self.in_flight
        if self.cap is not None and needed > self.cap:
            raise UncoveredError(
                f"was not asked: the {self.of}'s budget of {dollars(self.cap)} is used up"
            )
        if needed <= self.reserved:
            return
        if refused := await self.ledger.extend(self.account, needed, self.caps):
            raise UncoveredError(f"was not asked: {refused.budget} is used up")
        self.reserved = max(self.reserved, needed)


# --- Rounds kept within their budgets: reserved before, settled after, freed at the end.


async def _at_once() -> None:
    """Wait for nobody."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The house's money: the ledger it is written in, and the caps it is kept under."""

    ledger: Ledger
    caps: Caps
    now: Callable[[], datetime]

    async def accept(self, round_: Round, gateway: Gateway) -> None:
        """Reserve what a new round may cost; raise BudgetError, with nothing reserved, if it can't.

        A round that is in the ledger already is left as it is. One that costs nothing needs no
        reservation.
        """
        estimate = await estimated(round_, gateway)
        self.check_prices(round_.panel, estimate)
        _check_own_cap(round_.panel, estimate)
        wanted, account = _wanted(round_.panel, estimate), Account.of(round_, self.now())
        caps = self.caps.under(account)
        if wanted and (refused := await self.ledger.reserve(account, wanted, caps)):
            raise BudgetError(refused.sentence(wanted, account.day))

    @asynccontextmanager
    async def paying(self, round_: Round, gateway: Gateway) -> AsyncIterator[Gateway]:
        """Give the round's own way to models; what it reserved and did not spend is freed after.

        Takes over what the round has reserved, also before a crash, and reserves again what was
        freed; raises BudgetError where that no longer fits.
        """
        if round_.closing:
            yield gateway
            return
        estimate = await estimated(round_, gateway)
        self.check_prices(round_.panel, estimate)
        wanted, account = _wanted(round_.panel, estimate), Account.of(round_, self.now())
        caps = self.caps.under(account)
        if wanted and (refused := await self.ledger.extend(account, wanted, caps)):
            raise BudgetError(refused.sentence(wanted, account.day))
        spent = await self.ledger.spent(round_.id) if wanted or estimate.unknown else 0
        cap = _own_cap(round_.panel)
        paid = BudgetedGateway(
            gateway, self.ledger, caps, account, cap=cap, reserved=wanted, spent=spent
        )
        try:
            yield paid
        finally:
            await self._end(paid)

    @asynccontextmanager
    async def covering(
        self, account: Account, gateway: Gateway, cap: int | None, of: str
    ) -> AsyncIterator[BudgetedGateway]:
        """Give a way to models for what is no round, and never spends more than `cap` in all.

        Each call is reserved for when it is made; UncoveredError where that does not fit.
        """
        spent = await self.ledger.spent(account.round_id)
        paid = BudgetedGateway(
            *(gateway, self.ledger, self.caps.under(account), account),
            cap=cap,
            reserved=0,
            spent=spent,
            of=of,
        )
        try:
            yield paid
        finally:
            await self._end(paid)

    async def _end(self, paid: BudgetedGateway) -> None:
        # What cannot be freed now is freed by the next sweep.
        with suppress(StoreError):
            await paid.settled()
            if paid.reserved:
                await self.ledger.free(paid.account.round_id)

    async def release(self, round_id: str) -> None:
        """Free what is reserved for a round."""
        await self.ledger.free(round_id)

    async def sweep(self, store: Store, settle: Callable[[], Awaitable[None]] = _at_once) -> None:
        """Free what is still reserved for rounds that are closed, or were never stored.

        `settle` waits as long as a round may be about to be stored, where others do that too.
        """
        held = await self.ledger.held()
        await settle()
        for round_id in held:
            try:
                over = (await store.load(round_id)).closing is not None
            except RoundNotFoundError:
                over = True
            except StoreError:  # one that cannot be read may still be under way
                over = False
            if over:
                await self.ledger.free(round_id)

    def check_prices(self, panel: Panel, estimate: Estimate) -> None:
        """Raise BudgetError for a seat whose price nobody knows, where those may not sit."""
        if estimate.unknown and not self.caps.unknown_prices:
            raise BudgetError(
                f"Nobody knows what {panel.seat(estimate.unknown[0]).display} costs, and unknown "
                "prices are forbidden here: give it input_usd_per_million and "
                "output_usd_per_million in council.toml."
            )


def _own_cap(panel: Panel) -> int | None:
    usd = panel.terms.max_round_usd
    return None if usd is None else cap_micro(usd)


def _wanted(panel: Panel, estimate: Estimate) -> int:
    """Give what to reserve: no round spends more than its own cap."""
    cap = _own_cap(panel)
    return estimate.micro if cap is None else min(cap, estimate.micro)


def _check_own_cap(panel: Panel, estimate: Estimate) -> None:
    cap = _own_cap(panel)
    if cap is not None and estimate.quorum_micro > cap:
        raise BudgetError(
            f"A quorum of answers may cost {about(estimate.quorum_micro)}, and panel "
            f"{panel.name!r} has a max_round_usd of {dollars(cap)}: shorten the question, give its "
            "models max_tokens, or raise the cap in council.toml."
        )
