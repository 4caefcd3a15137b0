"""Rounds kept within their budgets: reserved before, settled after, freed at the end."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime

from council.errors import BudgetError, RoundNotFoundError, StoreError
from council.estimates import Estimate, estimated
from council.money import about, cap_micro, dollars
from council.panel import Panel
from council.paying import BudgetedGateway
from council.ports import Gateway, Ledger, Store
from council.rounds import Round
from council.spending import Account, Caps


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
