"""An experiment from where it stands to its end: answers first, then grades, a few at a time.

Rows are the checkpoints: each answer and each mark is saved the moment it exists, and what has a
row is not asked for again. A call that fails leaves none, and does not stop the others.
"""

import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from council.answers import Role
from council.bias.experiment.calls import answer_call, grade_call, mark_of
from council.bias.experiment.experiment import Cell, Experiment, Held, Mark, Work
from council.bias.experiment.plan import (
    Asking,
    answers_left,
    cells_left,
    is_settled,
    last_marks,
)
from council.bias.experiment.ports import Experiments
from council.bias.experiment.progress import Failure, Progress, standing
from council.bias.grades.grade import Framing
from council.calls import Call, Reply
from council.errors import GatewayError, UncoveredError
from council.ports import Gateway
from council.sitting import Deadline, reply_in_time, together

Act = TypeVar("Act")


def _ignore(_: Progress) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class World:
    """What an experiment is carried in; `spent` tells in micro-dollars, `show` hears of each call.

    At most `at_once` calls are under way.
    """

    gateway: Gateway
    experiments: Experiments
    at_once: int
    spent: Callable[[], int] = lambda: 0
    show: Callable[[Progress], None] = _ignore
    clock: Callable[[], float] = time.monotonic


class Carrying:
    """Carries one experiment, of which so much is held already."""

    def __init__(self, world: World, experiment: Experiment, held: Held) -> None:
        self._world = world
        self._experiment = experiment
        self._works = {(work.number, work.member): work for work in held.works}
        self._marks = dict(last_marks(held))
        self._stands = standing(experiment, held, 0)
        self._failed: Counter[Failure] = Counter()
        self._left = experiment.calls - self._stands.over
        self._done = 0
        self._began = world.clock()

    @property
    def held(self) -> Held:
        """What there is of it by now; of each grade the last reply."""
        return Held(tuple(self._works.values()), tuple(self._marks.values()))

    @property
    def progress(self) -> Progress:
        """How it stands."""
        return replace(
            self._stands,
            over=self._experiment.calls - self._left,
            answers=len(self._works),
            failures=tuple(self._failed.most_common()),
            spent_micro=self._world.spent(),
            seconds_left=self._seconds_left(),
        )

    def _seconds_left(self) -> float | None:
        """Give the time that is left, when calls take as long as those before."""
        if not self._done or not self._left:
            return None
        return (self._world.clock() - self._began) / self._done * self._left

    async def run(self) -> Progress:
        """Ask for what is left, until nothing is, or nothing more may be spent."""
        blocked = await self._all(answers_left(self._experiment, self.held), self._answer)
        if blocked is None:
            blocked = await self._all(cells_left(self._experiment, self.held), self._grade)
        return replace(self.progress, seconds_left=None, blocked=blocked)

    async def _all(self, acts: Iterable[Act], do: Callable[[Act], Awaitable[None]]) -> str | None:
        """Do all acts; give what keeps the rest from being done, where something does.

        What did not fit beside others under way may fit once those have told what they cost.
        """
        waiting = deque(acts)
        while True:
            done = self._done
            blocked = await self._go_through(waiting, do)
            if blocked is None or self._done == done:
                return blocked

    async def _go_through(
        self, waiting: deque[Act], do: Callable[[Act], Awaitable[None]]
    ) -> str | None:
        refusals: list[str] = []

        async def work() -> None:
            while waiting and not refusals:
                act = waiting.popleft()
                try:
                    await do(act)
                except UncoveredError as error:
                    waiting.appendleft(act)
                    refusals.append(str(error))
                    return
                self._done += 1
                self._left -= 1
                self._world.show(self.progress)

        await together(work() for _ in range(self._world.at_once))
        return refusals[0] if refusals else None

    async def _answer(self, asking: Asking) -> None:
        members, terms = self._experiment.panel.members, self._experiment.panel.terms
        call = answer_call(self._experiment, asking)
        reply = await self._asked(call, Role.ANSWER, terms.answer_seconds)
        if reply is None:
            self._left -= len(members) * len(Framing)  # what cannot be graded
            return
        work = Work(asking.number, asking.member.key, reply)
        await self._world.experiments.save(self._experiment.id, work)
        self._works[work.number, work.member] = work

    async def _grade(self, cell: Cell) -> None:
        work, terms = self._works[cell.number, cell.author], self._experiment.panel.terms
        mark = self._marks.get(cell)
        while mark is None or not is_settled(mark):
            call = grade_call(self._experiment, cell, work, mark.fault if mark else "")
            reply = await self._asked(call, Role.GRADE, terms.ballot_seconds)
            if reply is None:
                return
            mark = mark_of(self._experiment, cell, reply, mark.attempt + 1 if mark else 1)
            await self._world.experiments.save(self._experiment.id, mark)
            self._marks[cell] = mark
        self._count(mark)

    def _count(self, mark: Mark) -> None:
        """Count a mark that nothing more is asked for; there may be too many to count them anew."""
        stands = self._stands
        if mark.raw is None:
            self._stands = replace(stands, spoiled=stands.spoiled + 1)
        else:
            self._stands = replace(stands, grades=stands.grades + 1)

    async def _asked(self, call: Call, role: Role, seconds: float) -> Reply | None:
        """Give the reply; None, and a failure noted, where there is none."""
        try:
            return await reply_in_time(self._world.gateway, call, role, Deadline.after(seconds))
        except UncoveredError:
            raise
        except GatewayError as error:
            self._failed[Failure(call.member.key, str(error))] += 1
            return None
