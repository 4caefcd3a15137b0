"""An experiment runs to its end, whatever fails on the way."""

import asyncio
from dataclasses import dataclass, field
from itertools import count

import pytest

from council.answers import Call, Reply, Role
from council.errors import ContextOverflowError, GatewayError, UncoveredError
from council.panel import Terms
from council.research.experiment import (
    Experiment,
    ExperimentAnswer,
    ExperimentProgress,
    ExperimentState,
    FailedCall,
    GradeReply,
    is_complete,
)
from council.research.experiment_runner import ExperimentRunner, ExperimentServices
from tests.builders import CLAUDE, GPT, a_panel
from tests.council.research.experiment_builders import a_gateway, an_experiment, grading
from tests.fakes.gateway import FakeGateway, Hangs, PowerCutError
from tests.fakes.memory_experiments import MemoryExperiments


@dataclass(slots=True)
class Lab:
    """Fakes to run experiments with; `shown` collects the reported progress."""

    gateway: FakeGateway = field(default_factory=a_gateway)
    kept: MemoryExperiments = field(default_factory=MemoryExperiments)
    shown: list[ExperimentProgress] = field(default_factory=list)

    async def run(
        self, experiment: Experiment | None = None, max_concurrency: int = 3
    ) -> ExperimentProgress:
        experiment = experiment or an_experiment()
        ticks = count()
        services = ExperimentServices(
            *(self.gateway, self.kept, max_concurrency),
            on_progress=self.shown.append,
            clock=lambda: float(next(ticks)),
        )
        state = await self.kept.load_state(experiment.id)
        return await ExperimentRunner(services, experiment, state).run()

    async def state(self) -> ExperimentState:
        return await self.kept.load_state("bx:1")


async def test_every_answer_and_every_grade_is_stored() -> None:
    lab = Lab()

    progress = await lab.run()

    assert is_complete(an_experiment(), await lab.state())
    assert (progress.answers, progress.grades, progress.over) == (4, 16, 20)
    assert (progress.failed, progress.blocked, progress.seconds_left) == (0, None, None)
    assert len(lab.gateway.of(Role.ANSWER)) == 4
    assert len(lab.gateway.of(Role.BALLOT)) == 16


async def test_progress_is_reported_after_every_call_with_the_time_left() -> None:
    lab = Lab()

    await lab.run()

    assert [progress.over for progress in lab.shown] == [*range(1, 21)]
    assert lab.shown[0].seconds_left == pytest.approx(19, abs=19)
    assert lab.shown[-1].seconds_left is None


async def test_a_reply_without_a_grade_is_retried_once() -> None:
    lab = Lab(a_gateway(judges={CLAUDE: "I like it.", GPT: grading(3)}))

    progress = await lab.run()

    spoiled = [mark for mark in (await lab.state()).replies if mark.raw is None]
    assert (progress.grades, progress.spoiled) == (8, 8)
    assert sorted({mark.attempt for mark in spoiled}) == [1, 2]
    assert {mark.fault for mark in spoiled} == {"it held no JSON object with a grade"}
    assert len(lab.gateway.of(Role.BALLOT, CLAUDE)) == 16


@pytest.mark.parametrize(
    ("saying", "why"),
    [
        pytest.param(GatewayError("is out of order"), "is out of order", id="broken"),
        pytest.param(ContextOverflowError("takes no more"), "takes no more", id="overflow"),
        pytest.param(Hangs(), "did not answer in 0.05 s", id="late"),
    ],
)
async def test_a_failed_answer_skips_its_grades_only(
    saying: GatewayError | Hangs, why: str
) -> None:
    panel = a_panel(2, terms=Terms(answer_seconds=0.05))
    lab = Lab(a_gateway(answers={GPT: saying}))

    progress = await lab.run(an_experiment(panel=panel))

    assert progress.failures == ((FailedCall(GPT, why), 2),)
    assert (progress.answers, progress.grades, progress.over) == (2, 8, 20)


async def test_a_failed_grade_is_asked_for_on_resume() -> None:
    lab = Lab(a_gateway(judges={GPT: GatewayError("is out of order")}))
    first = await lab.run()
    lab.gateway = a_gateway()

    second = await lab.run()

    assert first.failures == ((FailedCall(GPT, "is out of order"), 8),)
    assert first.grades == 8
    assert (second.grades, second.failed) == (16, 0)
    assert {call.member.key for call in lab.gateway.asked} == {GPT}


class CutOff(MemoryExperiments):
    """Its power is cut after so many saves."""

    def __init__(self, saves: int) -> None:
        super().__init__()
        self.left = saves

    async def save(self, experiment_id: str, part: ExperimentAnswer | GradeReply) -> None:
        if not self.left:
            raise PowerCutError
        self.left -= 1
        await super().save(experiment_id, part)


@pytest.mark.parametrize("saves", range(20))
async def test_it_resumes_from_any_point_without_repeating_a_call(saves: int) -> None:
    kept = CutOff(saves)
    lab = Lab(kept=kept)
    with pytest.raises(ExceptionGroup):
        await lab.run(max_concurrency=1)
    kept.left, asked = 99, len(lab.gateway.asked)

    progress = await lab.run(max_concurrency=1)

    assert progress.over == 20
    assert len(lab.gateway.asked) - asked == 20 - saves


class Paid(FakeGateway):
    """Covers so many calls; further ones only while nothing else is under way."""

    covered: int = 0

    async def complete(self, call: Call) -> Reply:
        if not self.covered:
            raise UncoveredError("was not asked: the experiment's budget of $1.00 is used up")
        self.covered -= 1
        return await super().complete(call)


@pytest.mark.parametrize("covered", [pytest.param(2, id="answers"), pytest.param(7, id="grades")])
async def test_a_used_up_budget_stops_it_and_it_can_resume(covered: int) -> None:
    paid = Paid(vote=grading())
    paid.covered = covered
    lab = Lab(paid)

    first = await lab.run()
    paid.covered = 99
    second = await lab.run()

    assert first.blocked == "was not asked: the experiment's budget of $1.00 is used up"
    assert (first.over, first.failed) == (covered, 0)
    assert (second.over, second.blocked) == (20, None)
    assert len(paid.asked) == 20


class OneAtATime(FakeGateway):
    """Covers one call at a time, as a budget does whose rest is small."""

    under_way: int = 0

    async def complete(self, call: Call) -> Reply:
        if self.under_way:
            raise UncoveredError("was not asked: too much is under way")
        self.under_way += 1
        try:
            await asyncio.sleep(0)
            return await super().complete(call)
        finally:
            self.under_way -= 1


async def test_a_refused_call_is_retried_when_the_others_have_finished() -> None:
    lab = Lab(OneAtATime(vote=grading()))

    progress = await lab.run()

    assert (progress.over, progress.blocked) == (20, None)
