"""The line to one model at one address, and one call on it from its first attempt to its last."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from council.gateways.traffic.breaker import Breaker
from council.gateways.traffic.clock import Clock, noting
from council.gateways.traffic.pause import Pause
from council.gateways.traffic.turns import Turns
from council.providers import BreakerState, Lesson


def _unheard(_: Lesson, __: float) -> None:
    """Tell nobody: no other process is there."""


class Line:
    """What all calls of a model share: its pause and its breaker; its provider's turns.

    Other processes are told what is learnt of it, and for how many seconds that holds.
    """

    def __init__(
        self,
        turns: Turns,
        place: str,
        clock: Clock,
        tell: Callable[[Lesson, float], None] = _unheard,
    ) -> None:
        self.turns = turns
        self.place = place
        self.clock = clock
        self.pause = Pause(clock)
        self.breaker = Breaker(clock)
        self.retries = 0
        self._tell = tell

    def hold_off(self, seconds: float) -> None:
        """Let nobody call this model for so long, in any process."""
        self.pause.lengthen(seconds)
        self._tell(Lesson.PAUSE, seconds)

    def settle(self, call: object, *, failed: bool) -> None:
        """Tell the breaker what came of a call, and others what the breaker makes of it."""
        before = self.breaker.state
        if failed:
            self.breaker.failed(call)
        else:
            self.breaker.answered()
        after = self.breaker.state
        if after is not before and after is not BreakerState.HALF_OPEN:
            lesson = Lesson.SHUT if after is BreakerState.OPEN else Lesson.BACK
            self._tell(lesson, self.breaker.left_seconds)

    def heed(self, lesson: Lesson, seconds: float) -> None:
        """Take what another process has learnt as if it had been learnt here."""
        if lesson is Lesson.PAUSE:
            self.pause.heed(seconds)
        elif lesson is Lesson.SHUT:
            self.breaker.shut(seconds)
        else:
            self.breaker.answered()

    @contextmanager
    def asking(self) -> Iterator["Asking"]:
        """Give a call's way through; a probe that ends without an outcome leaves to the next."""
        asking = Asking(self)
        try:
            yield asking
        finally:
            self.breaker.left(asking)


class Asking:
    """One call: it takes a turn for each attempt, and tells the breaker what came of it."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._began = 0.0
        self._waited = 0.0
        self.attempts = 0

    @property
    def seconds(self) -> float:
        """How long it has lasted since its first attempt began."""
        return self._line.clock.now() - self._began

    @property
    def is_shut_out(self) -> bool:
        """Whether the breaker has opened since, by failures of other calls."""
        return self._line.breaker.refuses(self)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Hold a turn for one attempt, once breaker and pause let it.

        Cancelled in it, the model failed, unless the call had spent longer in waiting for a turn.
        Raise GatewayError where it is not to be asked now.
        """
        now = self._line.clock.now
        came = now()
        async with self._let_out():
            sent = now()
            self._waited += sent - came
            if self.attempts == 0:
                self._began = sent
            self.attempts += 1
            try:
                yield
            except asyncio.CancelledError:
                if now() - sent >= self._waited:
                    self.settle(failed=True)
                raise

    @asynccontextmanager
    async def _let_out(self) -> AsyncIterator[None]:
        line = self._line
        while True:
            line.breaker.admit(self)
            await line.pause.over(line.clock.jitter())
            async with line.turns.turn(line.place):
                # Much may have happened to the model while this call waited for its turn.
                line.breaker.admit(self)
                if line.pause.is_over:
                    yield
                    return

    async def rest(self, seconds: float, why: str) -> None:
        """Wait before another attempt; cancelled meanwhile, note why."""
        self._line.retries += 1
        with noting(why):
            await self._line.clock.sleep(seconds)

    def hold_off(self, seconds: float) -> None:
        """Let nobody call this model for so long."""
        self._line.hold_off(seconds)

    def settle(self, *, failed: bool) -> None:
        """Say what came of it: the model could not be had, or its provider was there."""
        self._line.settle(self, failed=failed)
