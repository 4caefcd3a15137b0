"""Budget of rounds: cost estimate, reservation, settlement, and a gateway within the budget."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime

from council.answers import Answer, Call, Prompt, Reply, Role
from council.budget_caps import Account, CapRefusal, Caps, ChosenCaps, OwnBudget
from council.errors import BudgetError, RoundNotFoundError, StoreError, UncoveredError
from council.files import IMAGE_TOKENS
from council.labels import MIN_TO_RANK, Label
from council.methods import method_of
from council.money import Price, cost_micro_usd, format_rounded_usd, format_usd
from council.panel import Member, Panel
from council.ports import Gateway, Ledger, Store
from council.prompts.answer import answer_prompt
from council.prompts.ballot import BallotPrompt, judge_prompt
from council.prompts.shared import estimate_tokens
from council.prompts.synthesis import JudgesReport, chair_prompt
from council.rounds import Question, Round
from council.rubric_grader import grade_prompt

MAX_TEXT_TOKENS = 2_000  # most answers are shorter, reasoning included
CANARY_TOKENS = 200
DECISION_TOKENS = 2_000  # what a decision adds to a chairman's prompt, at most
NOTE_TOKENS = 100  # what a method says of one answer, such as who wrote it in which part
MAX_BALLOT_TOKENS = 1_000
SETTLE_DELAY_SECONDS = 0.1
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NONCE = "0" * 16

Prices = Mapping[str, Price | None]


@dataclass(frozen=True, slots=True)
class Estimate:
    """The most a round may cost, in micro-dollars.

    `micro` covers all seats with a known price, `quorum_micro` only the cheapest answers that make
    a quorum. `unknown` are the keys of seats without a known price.
    """

    micro: int
    quorum_micro: int = 0
    unknown: tuple[str, ...] = ()

    def capped(self, panel: Panel) -> int:
        """Return `micro`, limited by the panel's cap per round."""
        cap = panel.terms.cap_micro_usd
        return self.micro if cap is None else min(cap, self.micro)


async def estimate_round(round_: Round, gateway: Gateway) -> Estimate:
    """Return the most a round may cost at the gateway's prices."""
    panel = round_.panel
    seats = dict.fromkeys(panel.judges if panel.has_given_texts else panel.seats)
    prices = {seat.key: await gateway.price(seat) for seat in seats}
    written = {answer.member: estimate_tokens(answer.text) for answer in given_answers(round_)}
    asked = [member for member in panel.members if member.key not in written]
    method = method_of(round_)
    silent = written.keys() - {judge.key for judge in method.judges(panel)}
    unknown = tuple(key for key, price in prices.items() if price is None and key not in silent)
    tokens = {member.key: max_reply_tokens(prices[member.key]) for member in asked} | written
    most = len(panel.members) if method.pair_ballots is None else MIN_TO_RANK
    votes = {x: _ballot(round_, x, prices[x.key], tokens, most) for x in method.judges(panel)}
    ballots = (
        sum(method.passes_of(round_, judge) * vote for judge, vote in votes.items())
        if method.pair_ballots is None
        else method.pair_ballots(panel) * max(votes.values())
    )
    others = sum(
        count * _exchange(round_, prices[key], tokens)
        for key, count in method.exchanges(panel).items()
    )
    if round_.question.rubric:
        others += sum(_grades(round_, judge, prices) for judge in panel.outside_judges)
    if panel.filter:
        others += _synthesis(round_, panel.filter, prices)  # reads the same, and writes less
    if panel.has_given_texts:
        return Estimate(ballots + others, unknown=unknown)
    question_tokens = max_prompt_tokens(answer_prompt(round_.question)) + _image_tokens(round_)
    answers = [
        price.cost_micro_usd(question_tokens, max_reply_tokens(price), searches=True)
        if price
        else 0
        for price in (prices[member.key] for member in asked)
    ]
    chairmen = () if panel.trial else panel.chair_order
    syntheses = [_synthesis(round_, chairman, prices) for chairman in chairmen]
    return Estimate(
        sum(answers) + ballots + others + max(syntheses, default=0),
        sum(sorted(answers)[: panel.terms.quorum]),
        unknown,
    )


async def estimate_decision(round_: Round, gateway: Gateway) -> Estimate:
    """Return the most that the answer to a closed round may cost once it is written anew."""
    prices = {seat.key: await gateway.price(seat) for seat in round_.panel.chair_order}
    prompt = round_.synthesis.prompt if round_.synthesis else None
    read = (max_prompt_tokens(prompt) if prompt else 0) + DECISION_TOKENS + _image_tokens(round_)
    costs = [
        price.cost_micro_usd(read, max_reply_tokens(price)) for price in prices.values() if price
    ]
    unknown = tuple(key for key, price in prices.items() if price is None)
    return Estimate(max(costs, default=0), unknown=unknown)


def decision_account(round_: Round, asked: Question, key: str, now: datetime) -> Account:
    """Return the account of a decision, which has its own `key`; the person who decides pays."""
    return replace(Account.of(replace(round_, question=asked), now), round_id=key)


def given_answers(round_: Round) -> tuple[Answer, ...]:
    """Return the answers that the round need not pay for: given ones, and those used again."""
    if round_.panel.has_given_texts:
        return round_.answers
    return tuple(answer for answer in round_.answers if answer.origin)


def call_cost_micro_usd(price: Price, call: Call) -> int:
    """Return the most a call may cost, in micro-dollars; a call with a schema is a ballot."""
    return price.cost_micro_usd(
        max_prompt_tokens(call.prompt) + IMAGE_TOKENS * len(call.images),
        max_reply_tokens(price, ballot=call.schema is not None),
        searches=call.role is Role.ANSWER,
    )


def max_prompt_tokens(prompt: Prompt) -> int:
    """Return an upper bound for the tokens of a prompt."""
    return estimate_tokens(prompt.system + prompt.user)


def max_reply_tokens(price: Price | None, *, ballot: bool = False) -> int:
    """Return how many tokens a seat may write: its token limit, else a usual maximum."""
    if price and price.max_tokens_out is not None:
        return price.max_tokens_out
    return MAX_BALLOT_TOKENS if ballot else MAX_TEXT_TOKENS


def _image_tokens(round_: Round) -> int:
    return IMAGE_TOKENS * len(round_.question.images)


def _ballot(
    round_: Round, judge: Member, price: Price | None, tokens: Mapping[str, int], most: int
) -> int:
    """Return what a judge's ballot on at most so many answers may cost; `tokens` by member."""
    others = [member for member in round_.panel.members if member != judge]
    others = sorted(others, key=lambda member: -tokens[member.key])[:most]
    if price is None or len(others) < MIN_TO_RANK:
        return 0
    texts = dict.fromkeys(_LETTERS[: len(others)], "")
    frame = judge_prompt(round_.question, round_.panel.rubric, BallotPrompt(texts, _NONCE))
    answer_tokens = sum(tokens[member.key] for member in others)
    answer_tokens += method_of(round_).extra_texts * max_reply_tokens(price)
    if round_.panel.terms.canary_share:  # at most a copy of an answer with one more sentence
        answer_tokens += CANARY_TOKENS + tokens[others[0].key]
    return price.cost_micro_usd(
        max_prompt_tokens(frame) + _image_tokens(round_) + answer_tokens,
        max_reply_tokens(price, ballot=True),
    )


def _exchange(round_: Round, price: Price | None, tokens: Mapping[str, int]) -> int:
    """Return what one more call of a seat may cost, which reads all answers and writes another.

    Its prompt counts as that of a ballot on all answers, with a note on each and one reason.
    """
    if price is None:
        return 0
    texts = dict.fromkeys(_LETTERS[: len(tokens)], "")
    frame = judge_prompt(round_.question, round_.panel.rubric, BallotPrompt(texts, _NONCE))
    read = max_prompt_tokens(frame) + _image_tokens(round_) + sum(tokens.values())
    read += NOTE_TOKENS * len(tokens) + max_reply_tokens(price, ballot=True)
    return price.cost_micro_usd(read, max_reply_tokens(price))


def _grades(round_: Round, judge: Member, prices: Prices) -> int:
    """Return what a judge may cost that grades all answers and the synthesis by the rubric."""
    price = prices[judge.key]
    if price is None:
        return 0
    chairmen = () if round_.panel.trial else round_.panel.chair_order[:1]
    writers = (*round_.panel.members, *chairmen)
    frame = grade_prompt(round_.question, [""] * len(writers), _NONCE)
    tokens = sum(max_reply_tokens(prices[writer.key]) for writer in writers)
    return price.cost_micro_usd(
        max_prompt_tokens(frame) + tokens, max_reply_tokens(price, ballot=True)
    )


def _synthesis(round_: Round, chairman: Member, prices: Prices) -> int:
    price = prices[chairman.key]
    if price is None:
        return 0
    members = round_.panel.members
    texts = {Label(letter): "" for letter in _LETTERS[: len(members)]}
    frame = chair_prompt(round_.question, texts, JudgesReport(), _NONCE)
    answer_tokens = sum(max_reply_tokens(prices[member.key]) for member in members)
    method = method_of(round_)
    reason_tokens = sum(
        method.passes_of(round_, judge) * max_reply_tokens(prices[judge.key], ballot=True)
        for judge in round_.panel.judges
    )
    return price.cost_micro_usd(
        max_prompt_tokens(frame) + _image_tokens(round_) + answer_tokens + reason_tokens,
        max_reply_tokens(price),
    ) * (2 if round_.question.answer_schema else 1)  # an answer that does not fit is asked again


# --- Reservation and settlement


_Reserve = Callable[[Account, int, Caps], Awaitable[CapRefusal | None]]


@dataclass(frozen=True, slots=True)
class Budget:
    """Reserves the cost of rounds in the ledger, under the caps of the installation.

    `own_budget` returns the budget of one asker; None for an asker who has none. `chosen_caps`
    returns what the admins of an account's workspace chose, as it is now.
    """

    ledger: Ledger
    caps: Caps
    now: Callable[[], datetime]
    own_budget: Callable[[str], Awaitable[OwnBudget | None]] | None = None
    chosen_caps: Callable[[Account], Awaitable[ChosenCaps]] | None = None

    async def caps_of(self, account: Account) -> Caps:
        """Return the caps of an account."""
        chosen = await self.chosen_caps(account) if self.chosen_caps else ChosenCaps()
        return self.caps.for_account(account, chosen)

    async def accept(self, round_: Round, gateway: Gateway) -> None:
        """Reserve what a new round may cost; raise BudgetError, reserving nothing, if it exceeds.

        A round that is in the ledger already is unchanged. A free round needs no reservation.
        """
        await self.reserve(round_, await self.estimate(round_, gateway))

    async def estimate(self, round_: Round, gateway: Gateway) -> Estimate:
        """Return what a new round may cost; raise BudgetError if that is too much for its panel.

        Prices may have to be loaded, which takes seconds.
        """
        estimate = await estimate_round(round_, gateway)
        self.check_prices(round_.panel, estimate)
        cap = round_.panel.terms.cap_micro_usd
        if cap is not None and estimate.quorum_micro > cap:
            quorum_usd = format_rounded_usd(estimate.quorum_micro)
            raise BudgetError(
                f"A quorum of answers may cost {quorum_usd}, but panel {round_.panel.name!r} has "
                f"a max_round_usd of {format_usd(cap)}. Shorten the question, give its models "
                "max_tokens, or raise the cap in council.toml."
            )
        return estimate

    async def reserve(self, round_: Round, estimate: Estimate) -> None:
        """Reserve what a new round may cost, or raise BudgetError and reserve nothing."""
        account = Account.of(round_, self.now())
        await self._reserve(round_.panel, account, estimate, self.ledger.reserve)

    @asynccontextmanager
    async def paying(self, round_: Round, gateway: Gateway) -> AsyncIterator[Gateway]:
        """Yield the round's budgeted gateway; free the unspent reservation afterwards.

        Reuses what the round has reserved, even before a crash, and reserves again what was freed;
        raises BudgetError if that no longer fits.
        """
        if round_.closing:
            yield gateway
            return
        estimate = await estimate_round(round_, gateway)
        self.check_prices(round_.panel, estimate)
        account = Account.of(round_, self.now())
        await self._reserve(round_.panel, account, estimate, self.ledger.extend)
        cap, reserved = round_.panel.terms.cap_micro_usd, estimate.capped(round_.panel)
        async with self.budget_gateway(account, gateway, cap, reserved=reserved) as budgeted:
            yield budgeted

    async def accept_decision(self, round_: Round, account: Account, gateway: Gateway) -> Estimate:
        """Reserve what a decision may cost, and return it; raise BudgetError if it exceeds a cap.

        `account` is the decision's own, with its own key.
        """
        estimate = await estimate_decision(round_, gateway)
        self.check_prices(round_.panel, estimate)
        await self._reserve(round_.panel, account, estimate, self.ledger.reserve)
        return estimate

    @asynccontextmanager
    async def paying_decision(
        self, round_: Round, account: Account, gateway: Gateway, accepted: Estimate
    ) -> AsyncIterator[Gateway]:
        """Yield a gateway for an accepted decision; free the unspent reservation afterwards."""
        cap, reserved = round_.panel.terms.cap_micro_usd, accepted.capped(round_.panel)
        gateway_of = self.budget_gateway(account, gateway, cap, of="decision", reserved=reserved)
        async with gateway_of as budgeted:
            yield budgeted

    async def _reserve(
        self, panel: Panel, account: Account, estimate: Estimate, reserve: _Reserve
    ) -> None:
        reserved, (paying, caps) = estimate.capped(panel), await self._find_payer(account)
        if reserved and (refused := await reserve(paying, reserved, caps)):
            sentence = refused.sentence(reserved, account.day)
            raise BudgetError(sentence, refused.retry_at(self.now()))

    async def _find_payer(self, account: Account) -> tuple[Account, Caps]:
        """Return the account that pays for this one, and its caps."""
        caps = await self.caps_of(account)
        own = await self.own_budget(account.asker) if self.own_budget else None
        return (account, caps) if own is None else own.apply(account, caps)

    @asynccontextmanager
    async def budget_gateway(
        self,
        account: Account,
        gateway: Gateway,
        cap: int | None,
        *,
        of: str = "round",
        reserved: int = 0,
    ) -> AsyncIterator["BudgetedGateway"]:
        """Yield a gateway that spends at most `cap` and reserves calls beyond `reserved`."""
        paying, caps = await self._find_payer(account)
        before = await self.ledger.spent(account.round_id)
        budgeted = BudgetedGateway(
            gateway,
            self.ledger,
            caps,
            paying,
            cap=cap,
            reserved=reserved,
            spent=before.micro,
            unknown_calls=before.unknown_calls,
            of=of,
        )
        try:
            yield budgeted
        finally:
            # What cannot be freed now is freed by the next sweep.
            with suppress(StoreError):
                await budgeted.close()
                if budgeted.reserved:
                    await self.ledger.release(account.round_id)

    async def sweep(
        self, store: Store, settle: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """Free reservations of closed or unknown rounds; `settle` waits for rounds being stored."""
        reserved = await self.ledger.list_reserved_rounds()
        if settle:
            await settle()
        for round_id in reserved:
            try:
                is_over = (await store.load(round_id)).closing is not None
            except RoundNotFoundError:
                is_over = True
            except StoreError:  # an unreadable round may still be running
                is_over = False
            if is_over:
                await self.ledger.release(round_id)

    def check_prices(self, panel: Panel, estimate: Estimate) -> None:
        """Raise BudgetError for a seat without a known price, unless the caps allow it."""
        if estimate.unknown and not self.caps.unknown_prices:
            raise BudgetError(
                f"The price of {panel.seat(estimate.unknown[0]).display} is unknown, and unknown "
                "prices are not allowed here. Give it input_usd_per_million and "
                "output_usd_per_million in council.toml."
            )


# --- Gateway that makes only covered calls


class GatewayWrapper:
    """Base of a gateway around another one: delegates everything but `complete`."""

    __slots__ = ()

    gateway: Gateway

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the wrapped gateway."""
        return self.gateway.versions

    def context_tokens(self, member_key: str) -> int | None:
        """Return the context size according to the wrapped gateway."""
        return self.gateway.context_tokens(member_key)

    async def price(self, seat: Member) -> Price | None:
        """Return the price according to the wrapped gateway."""
        return await self.gateway.price(seat)

    async def sees_images(self, seat: Member) -> bool:
        """Return whether the model takes images, according to the wrapped gateway."""
        return await self.gateway.sees_images(seat)


@dataclass(slots=True)
class BudgetedGateway(GatewayWrapper):
    """Gateway of one round (or of what else `of` names) that makes only calls its budgets cover.

    `cap` limits it alone, `caps` limit its account. `reserved`, `spent` and
    `unknown_calls` are its totals so far. `running` has the most that each running call can cost,
    None if that is unknown.
    """

    gateway: Gateway
    ledger: Ledger
    caps: Caps
    account: Account
    cap: int | None
    reserved: int
    spent: int
    in_flight: int = 0
    is_settling: bool = False
    settle_tasks: list[asyncio.Task[None]] = field(default_factory=list)
    of: str = "round"
    unknown_calls: int = 0
    running: list[int | None] = field(default_factory=list)
    is_closed: bool = False

    async def complete(self, call: Call) -> Reply:
        """Return the model's reply; raise UncoveredError, calling nobody, if it is not covered.

        The cost is settled in the background. A reply without a cost counts for the most it can
        have cost. The cost is unknown without a price, or if a call was sent but failed.
        """
        price = await self.gateway.price(call.member)
        if price and price.is_free:
            return await self.gateway.complete(call)
        max_cost = call_cost_micro_usd(price, call) if price else 0
        self.in_flight += max_cost
        was_sent, cost = False, None
        try:
            await self._cover()
            was_sent = True
            self.running.append(max_cost if price else None)
            reply = await self.gateway.complete(call)
            if reply.cost_usd is not None:
                cost = cost_micro_usd(reply.cost_usd)
            elif price:
                cost = max_cost
            return reply
        finally:
            self.in_flight -= max_cost
            self.spent += cost or 0
            if was_sent and not self.is_closed:
                self.running.remove(max_cost if price else None)
                self.unknown_calls += cost is None
                self.ledger.defer(self.account, cost)
                if not self.is_settling:
                    self.is_settling = True
                    self.settle_tasks.append(asyncio.create_task(self._settle_batch()))

    async def close(self) -> None:
        """Settle all costs; a call that still runs counts for the most it can cost."""
        self.is_closed = True
        await self.ledger.settle(self.account, *self.running)
        if self.is_settling:  # the last one still waits, and has nothing left to store
            self.settle_tasks.pop().cancel()
        await asyncio.gather(*self.settle_tasks)

    async def _settle_batch(self) -> None:
        # Storing the reply comes first: a crash would lose it, while its cost stays reserved.
        await asyncio.sleep(SETTLE_DELAY_SECONDS)
        self.is_settling = False
        await self.ledger.settle(self.account)

    async def _cover(self) -> None:
        """Reserve what is spent and in flight; raise UncoveredError if that exceeds a cap."""
        needed = self.spent + self.in_flight
        if self.cap is not None and needed > self.cap:
            raise UncoveredError(
                f"was not asked: the {self.of}'s budget of {format_usd(self.cap)} is used up"
            )
        if needed <= self.reserved:
            return
        if refused := await self.ledger.extend(self.account, needed, self.caps):
            raise UncoveredError(f"was not asked: {refused.budget} is used up")
        self.reserved = max(self.reserved, needed)
