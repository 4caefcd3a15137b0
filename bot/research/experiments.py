"""Find, create, run and export bias experiments."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.bakeoffs.parts import bakeoff_settings
from bot.context import AppContext
from bot.research.parts import experiment_store
from council.bakeoffs.models import Suite
from council.budget import Estimate
from council.budget_caps import Account, payer
from council.errors import ExperimentError
from council.money import Spending
from council.panel import Panel
from council.pipeline.run import versions
from council.research.experiment import (
    Experiment,
    ExperimentProgress,
    ExperimentState,
    GradeReply,
    GradeRequest,
    finished_calls,
    grade_of,
    is_complete,
    is_settled,
    last_replies,
    restrict_to_members,
)
from council.research.experiment_runner import (
    VERSION,
    ExperimentRunner,
    ExperimentServices,
    estimate_rest,
)

LAST = "last"
ID_PREFIX = "bx:"  # may be left out when a person names an experiment


NO_EXPERIMENTS = "No experiments yet. Start one with `council bias run SUITE`."


def find_experiment(experiments: Sequence[Experiment], wanted: str) -> Experiment:
    """Return the experiment whose id starts with `wanted`, or the newest for "last".

    Raise ExperimentError if there is none, or more than one.
    """
    if not experiments:
        raise ExperimentError(NO_EXPERIMENTS)
    if wanted.lower() == LAST:
        return experiments[0]
    matches = [
        experiment
        for experiment in experiments
        if experiment.id.startswith((wanted, f"{ID_PREFIX}{wanted}"))
    ]
    if len(matches) != 1:
        problem = "Several experiments start" if matches else "No experiment starts"
        raise ExperimentError(f"{problem} with {wanted!r}. `council bias list` lists them.")
    return matches[0]


@dataclass(frozen=True, slots=True)
class PreparedExperiment:
    """An experiment to run, its state so far, and what the rest may cost."""

    experiment: Experiment
    state: ExperimentState
    cost: Estimate

    @property
    def left(self) -> int:
        """How many calls are still to be made, if none fails."""
        return self.experiment.calls - finished_calls(self.state)


async def find_unfinished(app: AppContext, suite: Suite, panel: Panel) -> Experiment | None:
    """Return the newest incomplete experiment on this suite by these members, or None.

    Suites are compared by version.
    """
    members = restrict_to_members(panel)
    store = experiment_store(app)
    for experiment in await store.list_recent():
        is_same = experiment.suite.version == suite.version and experiment.panel == members
        if is_same and not is_complete(experiment, await store.load_state(experiment.id)):
            return experiment
    return None


def new_experiment(app: AppContext, suite: Suite, panel: Panel, asked_by: str) -> Experiment:
    """Return a new experiment, which is not stored yet."""
    program_versions = tuple(sorted({**versions(app.gateway), "grading": VERSION}.items()))
    id_ = f"{ID_PREFIX}{app.new_id()}"
    members = restrict_to_members(panel)
    return Experiment(id_, suite, members, asked_by, app.now(), versions=program_versions)


async def prepare_experiment(app: AppContext, experiment: Experiment) -> PreparedExperiment:
    """Return an experiment with its state. Raise BudgetError for forbidden unknown prices."""
    state = await experiment_store(app).load_state(experiment.id)
    cost = await estimate_rest(experiment, state, app.gateway)
    app.budget.check_prices(experiment.panel, cost)
    return PreparedExperiment(experiment, state, cost)


async def save_experiment(
    app: AppContext, experiment: Experiment, cap_micro: int | None
) -> Experiment:
    """Store a new experiment, or continue a stored one; a cap, if given, replaces its cap."""
    if not await experiment_store(app).open(replace(experiment, cap_micro=cap_micro)):
        if cap_micro is None:
            return experiment
        await experiment_store(app).limit(experiment.id, cap_micro)
    return replace(experiment, cap_micro=cap_micro)


async def complete_experiment(
    app: AppContext, experiment: Experiment, show: Callable[[ExperimentProgress], None]
) -> ExperimentProgress:
    """Run a stored experiment to its end, or until its budget is used up.

    Raise ExperimentError if another process is running it.
    """
    async with app.leader_lock(f"experiment {experiment.id}") as is_ours:
        if not is_ours:
            raise ExperimentError(
                f"Experiment {experiment.id} is already running in another process on this machine."
            )
        await app.prepare(experiment.panel)
        account = Account(experiment.id, app.now().date(), payer(experiment.asked_by))
        budgeted_gateway = app.budget.budget_gateway(
            account, app.gateway, experiment.cap_micro, of="experiment"
        )
        async with budgeted_gateway as gateway:
            concurrency = bakeoff_settings(app).rounds_at_once * len(experiment.panel.members)
            services = ExperimentServices(
                gateway,
                experiment_store(app),
                concurrency,
                lambda: Spending(gateway.spent, gateway.unknown_calls),
                show,
            )
            state = await experiment_store(app).load_state(experiment.id)
            return await ExperimentRunner(services, experiment, state).run()


def grade_lines(experiment: Experiment, state: ExperimentState) -> Iterator[str]:
    """Yield a JSON line for each settled grade, with the thesis' columns, in suite order.

    `score` and `thesis_score` are both our strict reading, 5 being best; `raw` is the grade as
    written, `parse` is "strict" or "fail", and tokens are those of all attempts.
    """
    attempts: dict[GradeRequest, list[GradeReply]] = defaultdict(list)
    for reply in state.replies:
        attempts[reply.cell].append(reply)
    settled = [reply for reply in last_replies(state).values() if is_settled(reply)]
    for reply in sorted(settled, key=_suite_order):
        yield json.dumps(_row(experiment, reply, attempts[reply.cell]), ensure_ascii=False)


def _suite_order(reply: GradeReply) -> tuple[int, str, str, str]:
    request = reply.cell
    return request.number, request.framing.value, request.author, request.judge


def _row(
    experiment: Experiment, reply: GradeReply, attempts: Iterable[GradeReply]
) -> dict[str, object]:
    grade = grade_of(experiment, reply)
    score = None if grade.score is None else int(grade.score)
    replies = [attempt.reply for attempt in attempts]
    return {
        "article_id": grade.item,
        "framing": grade.framing.value,
        "judge": grade.judge,
        "author": grade.author,
        "score": score,
        "raw": reply.raw,
        "thesis_score": score,
        "parse": "fail" if reply.raw is None else "strict",
        "tokens_in": _total(reply.tokens_in for reply in replies),
        "tokens_out": _total(reply.tokens_out for reply in replies),
    }


def _total(counts: Iterable[int | None]) -> int | None:
    """Return the sum; None if one count is unknown."""
    all_counts = [*counts]
    return None if None in all_counts else sum(count or 0 for count in all_counts)
