"""A round's own way to models, on which no call is made that is not paid for.

Knows no store and no clock.
"""

import asyncio
from dataclasses import dataclass, field

from council.behind import Behind
from council.calls import Call, Reply
from council.errors import UncoveredError
from council.estimates import call_micro
from council.money import cost_micro, dollars
from council.ports import Gateway, Ledger
from council.spending import Account, Caps

SETTLING_SECONDS = 0.1


@dataclass(slots=True)
class BudgetedGateway(Behind):
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
    owed: list[int | None] = field(default_factory=list)
    settling: list[asyncio.Task[None]] = field(default_factory=list)
    of: str = "round"

    async def complete(self, call: Call) -> Reply:
        """Give the model's reply, its cost settled soon after; UncoveredError if it is not covered.

        A reply without a cost counts for the most it can have cost; without a price, and for a
        call that was sent and brought no reply, nobody knows.
        """
        price = await self.gateway.price(call.member)
        if price and price.is_free:
            return await self.gateway.complete(call)
        most = call_micro(price, call) if price else 0
        self.in_flight += most
        sent, cost = False, None
        try:
            await self._cover()
            sent = True
            reply = await self.gateway.complete(call)
            cost = (
                (most if price else None) if reply.cost_usd is None else cost_micro(reply.cost_usd)
            )
            return reply
        finally:
            self.in_flight -= most
            self.spent += cost or 0
            if sent:
                self._owe(cost)

    async def settled(self) -> None:
        """Wait until every cost is in the ledger; raise StoreError if one cannot be."""
        await asyncio.gather(*self.settling)

    def _owe(self, cost: int | None) -> None:
        self.owed.append(cost)
        if len(self.owed) == 1:
            self.settling.append(asyncio.create_task(self._settle_soon()))

    async def _settle_soon(self) -> None:
        # The reply is kept first: what it says is lost with the process, what it cost is reserved.
        await asyncio.sleep(SETTLING_SECONDS)
        owed, self.owed = self.owed, []
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
