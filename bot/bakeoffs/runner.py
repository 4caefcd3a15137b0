"""What a bake-off may spend: what its rounds have spent, and what those under way still may."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import median

from bot.bakeoffs.registry import BakeoffContext
from bot.coordination.tasks import stopped
from bot.ports import RoundStoppedError
from council.bakeoffs.costs import run_estimate
from council.bakeoffs.models import (
    Bakeoff,
    BakeoffEstimate,
    FailedQuestion,
    Progress,
    Reference,
    bakeoff_of,
)
from council.budget import estimated
from council.errors import BudgetError, CouncilError, StoreError, SuiteError
from council.money import MICRO, about, cap_micro, dollars
from council.ports import RoundQuery
from council.rounds import Closing, Question, Round

# --- What a bake-off may spend: what its rounds have spent, and what those under way still may.

HEADROOM = 2  # times what a round is expected to cost, for ballots that are asked for again


class BakeoffBudget:
    """A bake-off's money; no round is let in whose expected cost does not fit in what is left."""

    def __init__(self, cap: int | None) -> None:
        self._cap = cap
        self._spent: dict[int, int] = {}
        self._held: dict[int, int] = {}

    @property
    def spent(self) -> int:
        """What rounds that are not under way have spent."""
        return sum(self._spent.values())

    def admit(self, number: int, expected: int, own: int | None) -> int | None:
        """Give what a question's new round may spend, and keep it for that; None is no limit.

        `own` is the cap that its panel gives every round. Raises BudgetError where what it is
        expected to cost is not left.
        """
        wanted = expected if own is None else min(own, expected)
        left = self._left(wanted)
        if left is None:
            return own
        most = min(left, wanted * HEADROOM)
        self._held[number] = most if own is None else min(own, most)
        return self._held[number]

    def let_in_again(self, number: int, own: int) -> None:
        """Keep for a round that is gone on with what it may spend in all; BudgetError likewise."""
        before = self._spent.pop(number, 0)
        self._held.pop(number, None)
        try:
            self._left(own)
        except BudgetError:
            self._spent[number] = before
            raise
        self._held[number] = own

    def settle(self, number: int, micro: int) -> None:
        """Note what a question's round has spent, and keep no more for it."""
        self._held.pop(number, None)
        self._spent[number] = micro

    def _left(self, wanted: int) -> int | None:
        """Give what is left, of which so much is wanted; None without a cap."""
        if self._cap is None:
            return None
        left = self._cap - self.spent - sum(self._held.values())
        if wanted > left:
            raise BudgetError(
                f"The cap of {dollars(self._cap)} for this bake-off is reached: "
                f"{dollars(self.spent)} is spent, and the next question may cost {about(wanted)}."
            )
        return left


# --- A suite's questions as rounds.


def round_of(house: BakeoffContext, bakeoff: Bakeoff, number: int) -> Round:
    """Give the round of a question, not stored yet; QuestionError for one that cannot be asked."""
    asked = bakeoff.suite.questions[number - 1]
    shown = asked.reference if bakeoff.suite.judges_see_references else None
    question = Question(
        asked.text,
        bakeoff.asked_by,
        asked.context,
        bakeoff.place,
        reference_text(shown) if shown else "",
    )
    seed, id_ = bakeoff.seed(number), bakeoff.round_id(number)
    return replace(house.new_round(question, bakeoff.panel, seed, id_), bakeoff=bakeoff.id)


def reference_text(reference: Reference) -> str:
    """Give a reference as a judge reads it."""
    within = f" (give or take {reference.tolerance:g})" if reference.tolerance else ""
    return f"{reference.value}{within}"


def own_cap(round_: Round) -> int | None:
    """Give the most a round may spend by its panel's terms, in micro-dollars."""
    usd = round_.panel.terms.max_round_usd
    return None if usd is None else cap_micro(usd)


def capped(round_: Round, micro: int | None) -> Round:
    """Give the round with so much as its own cap; as it is where there is none."""
    if micro is None:
        return round_
    terms = replace(round_.panel.terms, max_round_usd=micro / MICRO)
    return replace(round_, panel=replace(round_.panel, terms=terms))


# --- A suite put to a panel: what that may cost and how long it takes.

FEWEST_ROUNDS, MOST_ROUNDS = 3, 20


async def expected(house: BakeoffContext, bakeoff: Bakeoff) -> BakeoffEstimate:
    """Give what all of a bake-off's questions come to."""
    cost = await run_estimate(bakeoff.suite, bakeoff.panel, house.gateway)
    return BakeoffEstimate(cost.micro, cost.unknown, await _seconds(house, bakeoff))


async def _seconds(house: BakeoffContext, bakeoff: Bakeoff) -> float | None:
    """Give how long it takes when its rounds take as long as the panel's last; None for too few."""
    wanted = RoundQuery(panel=bakeoff.panel.name, succeeded=True)
    lines = await house.store.recent(MOST_ROUNDS, wanted)
    seconds = [line.seconds for line in lines if line.seconds is not None]
    if len(seconds) < FEWEST_ROUNDS:
        return None
    at_once = min(len(bakeoff.suite.questions), house.bakeoff_rounds)
    return median(seconds) * len(bakeoff.suite.questions) / at_once


# --- A bake-off from where it stands to its end: its rounds, a few at a time.

LOOK_SECONDS = 3.0  # after which its row is read again: another process may have cancelled it
AGAIN_SECONDS = 1.0  # before a round is gone on with whose process stopped
CANCELLED = "its round was cancelled"
UNFORESEEN = "something went wrong; the log says what"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the holding of a bake-off came to its end.

    `blocked` says what kept it from its last question, None where nothing did; `cancelled` that
    somebody noted its end meanwhile.
    """

    blocked: str | None = None
    cancelled: bool = False


class BakeoffRunner:
    """Carries one bake-off; `show` hears of every change, `bell` has its row read at once."""

    def __init__(
        self,
        house: BakeoffContext,
        bakeoff: Bakeoff,
        show: Callable[[Progress], None],
        bell: asyncio.Event,
    ) -> None:
        self._house = house
        self._bakeoff = bakeoff
        self._show = show
        self._bell = bell
        self._purse = BakeoffBudget(bakeoff.cap_micro)
        self._stored: set[int] = set()
        self._waiting: deque[int] = deque()
        self._running: dict[asyncio.Task[Round], int] = {}
        self._over: set[int] = set()
        self._failed: dict[int, str] = {}
        self._seconds: list[float] = []
        self._blocked: str | None = None
        self._changed = ""

    @property
    def progress(self) -> Progress:
        """How it stands."""
        return Progress(
            self._bakeoff,
            len(self._over),
            tuple(FailedQuestion(number, self._failed[number]) for number in sorted(self._failed)),
            len(self._running),
            self._purse.spent,
            self._seconds_left(),
            self._changed,
            len(self._stored),
        )

    def _seconds_left(self) -> float | None:
        """Give the time that is left, when rounds take as long as those before."""
        left = len(self._bakeoff.suite.questions) - len(self._over)
        if not self._seconds or not left:
            return None
        mean = sum(self._seconds) / len(self._seconds)
        return mean * left / min(left, self._house.bakeoff_rounds)

    async def take_stock(self) -> None:
        """Find out what is there already."""
        for line in await self._house.store.recent(wanted=RoundQuery(bakeoff=self._bakeoff.id)):
            number = bakeoff_of(line.id)[1]
            self._stored.add(number)
            if line.failed:
                await self._note(number, (await self._house.store.load(line.id)).closing)
            elif line.seconds is not None:
                await self._note(number, Closing(line.seconds))
            else:
                await self._settle(number)
        numbers = range(1, len(self._bakeoff.suite.questions) + 1)
        left = [number for number in numbers if number not in self._over]
        # What was begun comes first: it is paid for in part.
        self._waiting.extend(sorted(left, key=lambda number: number not in self._stored))
        self._changed = await self._newer_version()
        self._show(self.progress)

    async def run(self) -> Outcome:
        """Ask what is left, until nothing is, or nothing more may be."""
        try:
            while self._waiting or self._running:
                if await self._is_ended():
                    await self._stop_rounds()
                    return Outcome(cancelled=True)
                blocked = self._blocked or await self._begin_some()
                self._show(self.progress)
                if not self._running:
                    return Outcome(blocked)
                self._blocked = None
                await self._end_some()
        finally:
            await stopped([*self._running])
        return Outcome()

    async def _is_ended(self) -> bool:
        self._bell.clear()
        return (await self._house.bakeoff_stores.bakeoffs.load(self._bakeoff.id)).ending is not None

    async def _stop_rounds(self) -> None:
        """Stop spending at once; what there is of each round is kept."""
        ids = [self._bakeoff.round_id(number) for number in self._running.values()]
        await asyncio.gather(*(self._house.runner.stop(id_) for id_ in ids))

    async def _begin_some(self) -> str | None:
        """Begin as many as go at once; give what keeps the next from beginning, if anything."""
        while self._waiting and len(self._running) < self._house.bakeoff_rounds:
            number = self._waiting[0]
            try:
                round_ = await self._opened(number)
            except BudgetError as error:
                return str(error)
            except StoreError:
                raise
            except CouncilError as error:
                await self._fail(number, str(error))
            else:
                self._running[asyncio.create_task(self._followed(round_))] = number
            self._waiting.popleft()
        return None

    async def _opened(self, number: int) -> Round:
        """Give a question's round, stored; BudgetError where it does not fit under some cap."""
        house = self._house
        if number in self._stored:
            stored = await house.store.load(self._bakeoff.round_id(number))
            self._purse.let_in_again(number, own_cap(stored) or 0)
            return stored
        round_ = round_of(house, self._bakeoff, number)
        expected = (await estimated(round_, house.gateway)).micro
        allotted = self._purse.admit(number, expected, own_cap(round_))
        round_ = capped(round_, allotted or None)
        try:
            is_new = await house.open(round_)
        except CouncilError:
            self._purse.settle(number, 0)
            raise
        self._stored.add(number)
        return round_ if is_new else await house.store.load(round_.id)

    async def _followed(self, round_: Round) -> Round:
        """Carry a round to its end, and give it with everything that it cost in the ledger."""
        runner = self._house.runner
        runner.start(round_)
        async with runner.subscribe(round_.id) as sights:
            async for _ in sights:
                pass
        await runner.stop(round_.id)  # closed, it has but its accounts to end
        return await self._house.store.load(round_.id)

    async def _end_some(self) -> None:
        """Wait until a round has ended, or its row should be read again."""
        bell = asyncio.create_task(self._bell.wait())
        try:
            done, _ = await asyncio.wait(
                {*self._running, bell},
                timeout=LOOK_SECONDS,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            bell.cancel()
        for task in [task for task in self._running if task in done]:
            await self._take_in(task, self._running.pop(task))

    async def _take_in(self, task: asyncio.Task[Round], number: int) -> None:
        try:
            await self._note(number, task.result().closing)
        except BudgetError as error:
            await self._settle(number)
            self._waiting.appendleft(number)
            self._blocked = str(error)
        except StoreError:
            raise
        except RoundStoppedError:
            await self._take_in_stopped(number)
        except CouncilError as error:
            await self._fail(number, str(error))
        # A fault in one round must not end the others; the runner has logged it.
        except Exception:  # noqa: BLE001
            await self._fail(number, UNFORESEEN)

    async def _take_in_stopped(self, number: int) -> None:
        """Take in that a round was stopped: with all of them, or by somebody."""
        if await self._is_ended():
            self._waiting.appendleft(number)
        elif (await self._house.store.line(self._bakeoff.round_id(number))).paused:
            await self._fail(number, CANCELLED)
        else:
            await self._go_on_elsewhere(number)

    async def _go_on_elsewhere(self, number: int) -> None:
        """Have a round go on whose process stopped; without a cluster, that was this one."""
        if self._house.job_queue is None:
            raise RoundStoppedError("The bake-off stopped with this process; a restart goes on.")
        await asyncio.sleep(AGAIN_SECONDS)
        self._waiting.appendleft(number)

    async def _note(self, number: int, closing: Closing | None) -> None:
        """Note a round that is over."""
        await self._settle(number)
        self._over.add(number)
        if closing and closing.failure:
            self._failed[number] = closing.failure
        elif closing:
            self._seconds.append(closing.seconds)

    async def _fail(self, number: int, why: str) -> None:
        """Note a question that came to no closed round; it is asked when the bake-off goes on."""
        await self._settle(number)
        self._over.add(number)
        self._failed[number] = why

    async def _settle(self, number: int) -> None:
        spent = await self._house.budget.ledger.spent(self._bakeoff.round_id(number))
        self._purse.settle(number, spent)

    async def _newer_version(self) -> str:
        """Give the suite's newest version where it is another by now, else ""."""
        suite = self._bakeoff.suite
        try:
            newest = await self._house.bakeoff_stores.suites.load(suite.scope, suite.name)
        except SuiteError:
            return ""
        return "" if newest.version == suite.version else newest.version
