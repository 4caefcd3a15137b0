"""A bake-off from where it stands to its end: its rounds, a few at a time.

Rows are the checkpoints: a question whose round is over is not asked again, one whose round is not
is gone on with.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from bot.bakeoffs.house import House
from bot.bakeoffs.purse import Purse
from bot.bakeoffs.questions import capped, own_cap, round_of
from bot.coordination.tasks import stopped
from bot.ports import RoundStoppedError
from council.bakeoffs.models import Bakeoff, Failed, Progress, bakeoff_of
from council.budget import estimated
from council.errors import BudgetError, CouncilError, StoreError, SuiteError
from council.ports import Wanted
from council.rounds import Closing, Round

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


class Carrying:
    """Carries one bake-off; `show` hears of every change, `bell` has its row read at once."""

    def __init__(
        self,
        house: House,
        bakeoff: Bakeoff,
        show: Callable[[Progress], None],
        bell: asyncio.Event,
    ) -> None:
        self._house = house
        self._bakeoff = bakeoff
        self._show = show
        self._bell = bell
        self._purse = Purse(bakeoff.cap_micro)
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
            tuple(Failed(number, self._failed[number]) for number in sorted(self._failed)),
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
        for line in await self._house.store.recent(wanted=Wanted(bakeoff=self._bakeoff.id)):
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
        return (await self._house.bench.bakeoffs.load(self._bakeoff.id)).ending is not None

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
        allotted = self._purse.let_in(number, expected, own_cap(round_))
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
        async with runner.watching(round_.id) as sights:
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
        if self._house.works is None:
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
            newest = await self._house.bench.suites.load(suite.scope, suite.name)
        except SuiteError:
            return ""
        return "" if newest.version == suite.version else newest.version
