"""Runner of one bake-off: ask its questions as rounds, a few at a time, within its budget."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace

from bot.admission import admit_round
from bot.bakeoffs.outcomes import usual_cost
from bot.bakeoffs.parts import bakeoff_settings, bakeoff_stores
from bot.bakeoffs.trials import Reuse, find_reusable, is_trial_settled, with_answers
from bot.context import AppContext, usual_seconds
from bot.coordination.tasks import cancel_and_wait
from bot.ports import RoundStoppedError
from bot.render.formatting import spending_text
from council.bakeoffs.costs import estimate_run
from council.bakeoffs.models import (
    Bakeoff,
    BakeoffEstimate,
    BakeoffProgress,
    FailedQuestion,
    split_round_id,
    with_method,
)
from council.bakeoffs.trial import next_look
from council.budget import estimate_round
from council.errors import BudgetError, CouncilError, StoreError, SuiteError
from council.methods import BLIND_RANKING, BOTH_ORDERS
from council.money import MICRO_USD, Spending, format_rounded_usd, format_usd
from council.ports import RoundQuery
from council.providers import BreakerState
from council.rounds import Closing, Question, Round

HEADROOM = 2  # a round may spend this multiple of its estimate, to repeat requests for ballots
RELOAD_SECONDS = 3.0  # between reads of the row: another process may have cancelled the bake-off
RETRY_SECONDS = 1.0  # before a round is restarted whose process stopped
MAX_OUTAGE_SECONDS = 600.0  # how long a bake-off waits for models that are out of reach
_NOT_CLOSED = {BreakerState.OPEN, BreakerState.HALF_OPEN}
UNFORESEEN = "something went wrong; see the log"


async def estimate_bakeoff(app: AppContext, bakeoff: Bakeoff) -> BakeoffEstimate:
    """Return the estimated cost and duration of a bake-off."""
    cost = await estimate_run(bakeoff.suite, bakeoff.panel, app.gateway, app.registry)
    usual = await usual_seconds(app.store, bakeoff.panel.name)
    questions = len(bakeoff.suite.questions)
    concurrent = min(questions, bakeoff_settings(app).rounds_at_once)
    seconds = None if usual is None else usual * questions / concurrent
    usual_micro = await usual_cost(app, bakeoff)
    return BakeoffEstimate(
        cost.micro, cost.unknown, seconds, usual_micro, await _extra_micro(app, bakeoff, cost.micro)
    )


async def _extra_micro(app: AppContext, bakeoff: Bakeoff, micro: int) -> int:
    """Return how much of the cost of a bake-off is for a second order of its rankings."""
    if bakeoff.panel.terms.method != BOTH_ORDERS.name or bakeoff.suite.methods:
        return 0
    once = with_method(bakeoff.panel, BLIND_RANKING.name)
    return micro - (await estimate_run(bakeoff.suite, once, app.gateway, app.registry)).micro


class BakeoffRunner:
    """Runs one bake-off; `on_progress` gets every change, `reload` requests a read of its row."""

    def __init__(
        self,
        app: AppContext,
        bakeoff: Bakeoff,
        on_progress: Callable[[BakeoffProgress], None],
        reload: asyncio.Event,
    ) -> None:
        self._app = app
        self._bakeoff = bakeoff
        self._on_progress = on_progress
        self._reload = reload
        self._budget = BakeoffBudget(bakeoff.cap_micro)
        self._stored: set[int] = set()
        self._waiting: deque[int] = deque()
        self._running: dict[asyncio.Task[Round], int] = {}
        self._over: set[int] = set()
        self._failed: dict[int, str] = {}
        self._seconds: list[float] = []
        self._outage_end: float | None = None
        self._blocked: str | None = None
        self._changed = ""
        self._reuse: Reuse | None = None

    @property
    def progress(self) -> BakeoffProgress:
        """The current progress."""
        return BakeoffProgress(
            self._bakeoff,
            len(self._over),
            tuple(FailedQuestion(number, self._failed[number]) for number in sorted(self._failed)),
            len(self._running),
            self._budget.spent.micro,
            self._seconds_left(),
            self._changed,
            len(self._stored),
            self._budget.spent.unknown_calls,
        )

    def _seconds_left(self) -> float | None:
        """Return the time left if rounds take as long as before; None if unknown, or stopped."""
        left = len(self._bakeoff.numbers) - len(self._over)
        is_stopped = self._blocked or self._bakeoff.ending
        if is_stopped or not self._seconds or not left:
            return None
        mean = sum(self._seconds) / len(self._seconds)
        return mean * left / min(left, bakeoff_settings(self._app).rounds_at_once)

    async def load_state(self) -> None:
        """Load the state of a bake-off whose rounds may be stored in part."""
        lines = await self._app.store.list_summaries(wanted=RoundQuery(bakeoff=self._bakeoff.id))
        spent = await self._app.budget.ledger.spent_by_round([line.id for line in lines])
        for line in lines:
            number = split_round_id(line.id)[1]
            self._stored.add(number)
            self._budget.settle(number, spent.get(line.id, Spending()))
            if line.seconds is not None:
                self._note_closing(number, Closing(line.seconds, line.failure))
        if not self._bakeoff.panel.trial:
            self._queue(self._bakeoff.numbers)
        self._changed = await self._newer_version()
        self._on_progress(self.progress)

    def _queue(self, numbers: Sequence[int]) -> None:
        left = [number for number in numbers if number not in self._over]
        # Rounds that are stored come first: they are paid for in part.
        self._waiting.extend(sorted(left, key=lambda number: number not in self._stored))

    async def _queue_next_look(self) -> bool:
        """Queue a trial's questions until it looks at its result; False if none are to be asked."""
        if not self._bakeoff.panel.trial:
            return False
        numbers, asked = self._bakeoff.numbers, len(self._over)
        if asked and await is_trial_settled(self._app, self._bakeoff, asked):
            return False
        self._queue(numbers[: next_look(asked, len(numbers))])
        return bool(self._waiting)

    async def run(self) -> str | None:
        """Ask the remaining questions, until the budget is spent or the bake-off is cancelled.

        Return why it cannot go on if its budget is spent.
        """
        runner = self._app.runner
        try:
            while self._waiting or self._running or await self._queue_next_look():
                if await self._is_ended():  # what the rounds have so far stays stored
                    ids = [self._bakeoff.round_id(number) for number in self._running.values()]
                    await asyncio.gather(*(runner.stop(id_) for id_ in ids))
                    return None
                self._blocked = self._blocked or await self._start_rounds()
                self._on_progress(self.progress)
                if not self._running and (self._blocked or not self._waiting):
                    return self._blocked
                self._blocked = None
                await self._wait_for_round()
        finally:
            await cancel_and_wait([*self._running])
        return None

    async def _is_ended(self) -> bool:
        self._reload.clear()
        return (await bakeoff_stores(self._app).bakeoffs.load(self._bakeoff.id)).ending is not None

    async def _start_rounds(self) -> str | None:
        """Start as many rounds as may run at once; return why the next cannot start, if so."""
        while self._waiting and len(self._running) < bakeoff_settings(self._app).rounds_at_once:
            if self._has_outage():
                return None
            number = self._waiting[0]
            try:
                round_ = await self._open_round(number)
            except BudgetError as error:
                return str(error)
            except StoreError:
                raise
            except CouncilError as error:
                await self._fail(number, str(error))
            else:
                self._running[asyncio.create_task(self._run_round(round_))] = number
            self._waiting.popleft()
        return None

    def _has_outage(self) -> bool:
        """Return whether another round would fail at once: too few circuit breakers let it pass.

        After an outage one round runs alone, whose calls are the probes. False once the longest
        wait is over.
        """
        panel = self._bakeoff.panel
        states = {model.model: model.breaker for model in self._app.health().models}
        breakers = [states.get(member.model_id) for member in panel.members]
        closed = len(breakers) - sum(state in _NOT_CLOSED for state in breakers)
        passing = len(breakers) - breakers.count(BreakerState.OPEN)
        if closed >= panel.terms.quorum or (passing >= panel.terms.quorum and not self._running):
            return False
        now = asyncio.get_running_loop().time()
        if self._outage_end is None:
            self._outage_end = now + MAX_OUTAGE_SECONDS
        return now < self._outage_end

    async def _open_round(self, number: int) -> Round:
        """Store and return a question's round, or the stored one; raise BudgetError at a cap."""
        app = self._app
        if number in self._stored:
            stored = await app.store.load(self._bakeoff.round_id(number))
            cap = stored.panel.terms.cap_micro_usd or 0
            self._budget.reserve(number, cap, cap)
            return stored
        round_ = await self._new_round(number)
        expected = (await estimate_round(round_, app.gateway)).micro
        allotted = self._budget.reserve(number, expected, round_.panel.terms.cap_micro_usd)
        if allotted:
            terms = replace(round_.panel.terms, max_round_usd=allotted / MICRO_USD)
            round_ = replace(round_, panel=replace(round_.panel, terms=terms))
        try:
            is_new = await admit_round(app, round_)
        except CouncilError:
            self._budget.settle(number, Spending())
            raise
        self._stored.add(number)
        return round_ if is_new else await app.store.load(round_.id)

    async def _new_round(self, number: int) -> Round:
        """Return a question's round, with the stored answers that a trial uses again."""
        round_ = new_question_round(self._app, self._bakeoff, number)
        if self._bakeoff.panel.trial is None:
            return round_
        if self._reuse is None:
            self._reuse = await find_reusable(self._app, self._bakeoff)
        return with_answers(round_, self._reuse)

    async def _run_round(self, round_: Round) -> Round:
        """Run a round to its end and return it; then the ledger has all its costs."""
        runner = self._app.runner
        runner.start(round_)
        async with runner.subscribe(round_.id) as snapshots:
            async for _ in snapshots:
                pass
        await runner.stop(round_.id)  # the round is closed, but its bookkeeping may not be
        return await self._app.store.load(round_.id)

    async def _wait_for_round(self) -> None:
        """Wait until a round has ended or the row should be read again."""
        reload = asyncio.create_task(self._reload.wait())
        try:
            done, _ = await asyncio.wait(
                {*self._running, reload},
                timeout=RELOAD_SECONDS,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            reload.cancel()
        for task in [task for task in self._running if task in done]:
            await self._record_result(task, self._running.pop(task))

    async def _record_result(self, task: asyncio.Task[Round], number: int) -> None:
        try:
            await self._record_closing(number, task.result().closing)
        except BudgetError as error:
            await self._settle(number)
            self._waiting.appendleft(number)
            self._blocked = str(error)
        except StoreError:
            raise
        except RoundStoppedError:
            await self._record_stopped(number)
        except CouncilError as error:
            await self._fail(number, str(error))
        # A bug in one round must not end the others; the runner has logged it.
        except Exception:  # noqa: BLE001
            await self._fail(number, UNFORESEEN)

    async def _record_stopped(self, number: int) -> None:
        """Record that a round was stopped: with the bake-off, by somebody, or with its process."""
        if await self._is_ended():
            self._waiting.appendleft(number)
        elif (await self._app.store.load_summary(self._bakeoff.round_id(number))).paused:
            await self._fail(number, "its round was cancelled")
        elif self._app.job_queue is None:
            raise RoundStoppedError(
                "The bake-off was interrupted. It resumes when the program restarts."
            )
        else:
            await asyncio.sleep(RETRY_SECONDS)
            self._waiting.appendleft(number)

    async def _record_closing(self, number: int, closing: Closing | None) -> None:
        await self._settle(number)
        self._note_closing(number, closing)

    def _note_closing(self, number: int, closing: Closing | None) -> None:
        self._over.add(number)
        if closing and closing.failure:
            self._failed[number] = closing.failure
        elif closing:
            self._seconds.append(closing.seconds)

    async def _fail(self, number: int, why: str) -> None:
        """Record a question without a closed round; a resumed bake-off asks it again."""
        await self._settle(number)
        self._over.add(number)
        self._failed[number] = why

    async def _settle(self, number: int) -> None:
        spent = await self._app.budget.ledger.spent(self._bakeoff.round_id(number))
        self._budget.settle(number, spent)

    async def _newer_version(self) -> str:
        suite = self._bakeoff.suite.as_stored
        try:
            newest = await bakeoff_stores(self._app).suites.load(suite.scope, suite.name)
        except SuiteError:
            return ""
        return "" if newest.version == suite.version else newest.version


def new_question_round(app: AppContext, bakeoff: Bakeoff, number: int) -> Round:
    """Return the round of a question, not stored yet; raise QuestionError if it is not valid."""
    asked = bakeoff.suite.questions[number - 1]
    seen = asked.known_answer if bakeoff.suite.judges_see_references else ""
    question = Question(
        text=asked.text,
        asked_by=bakeoff.asked_by,
        context=asked.context,
        place=bakeoff.place,
        reference=seen,
        rubric=asked.rubric,
    )
    seed, id_ = bakeoff.seed(number), bakeoff.round_id(number)
    return replace(app.new_round(question, bakeoff.panel_of(number), seed, id_), bakeoff=bakeoff.id)


class BakeoffBudget:
    """Budget of one bake-off: what its rounds spent, and what is reserved, in micro-dollars."""

    def __init__(self, cap: int | None) -> None:
        self._cap = cap
        self._spent: dict[int, Spending] = {}
        self._reserved: dict[int, int] = {}

    @property
    def spent(self) -> Spending:
        """What the rounds that are not running have spent."""
        return sum(self._spent.values(), Spending())

    def reserve(self, number: int, expected: int, panel_cap: int | None) -> int | None:
        """Reserve budget for a question's round and return its cap; None is no cap.

        What a resumed round has spent counts as left. Raise BudgetError if less is left than the
        round is expected to cost.
        """
        needed = expected if panel_cap is None else min(panel_cap, expected)
        before = self._spent.get(number, Spending())
        cap, spent = panel_cap, self.spent.micro - before.micro
        if self._cap is not None:
            left = self._cap - spent - sum(self._reserved.values())
            if needed > left:
                raise BudgetError(
                    f"The next question may cost {format_rounded_usd(needed)}, which would "
                    f"exceed the bake-off's cap of {format_usd(self._cap)} "
                    f"({spending_text(Spending(spent))} so far)."
                )
            cap = min(left, needed * HEADROOM)
            cap = cap if panel_cap is None else min(panel_cap, cap)
            self._reserved[number] = cap
        self._spent.pop(number, None)
        return cap

    def settle(self, number: int, spent: Spending) -> None:
        """Replace the reservation of a question's round by what the round has spent."""
        self._reserved.pop(number, None)
        self._spent[number] = spent
