"""Which experiment somebody means."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.commands.context import AppContext, versions
from council.bakeoffs.models import Suite
from council.budget import Estimate
from council.budget_caps import Account
from council.errors import ExperimentError
from council.panel import Panel
from council.research.experiment import (
    Experiment,
    ExperimentState,
    GradeReply,
    GradeRequest,
    Progress,
    grade_of,
    is_settled,
    is_whole,
    last_marks,
    members_alone,
    over,
)
from council.research.experiment_runner import (
    VERSION,
    ExperimentRunner,
    ExperimentServices,
    rest_estimate,
)

# --- Which experiment somebody means.

LAST = "last"
PREFIX = "bx:"  # of an experiment's id; it may be left out


def meant_experiment(there: Sequence[Experiment], wanted: str) -> Experiment:
    """Give the experiment whose id starts so, or the newest; ExperimentError where none does."""
    if not there:
        raise ExperimentError(
            "No experiment has been held yet: `council bias run SUITE` holds one."
        )
    if wanted.lower() == LAST:
        return there[0]
    found = [one for one in there if one.id.startswith((wanted, f"{PREFIX}{wanted}"))]
    if len(found) != 1:
        several = "Several experiments begin" if found else "No experiment begins"
        raise ExperimentError(f"{several} with {wanted!r}: `council bias list` names them.")
    return found[0]


# --- An experiment found or begun, and held to its end within its budget.


@dataclass(frozen=True, slots=True)
class PreparedExperiment:
    """An experiment to hold, what there is of it, and what the rest may cost."""

    experiment: Experiment
    held: ExperimentState
    cost: Estimate

    @property
    def left(self) -> int:
        """How many calls are still to be made, where nobody fails."""
        return self.experiment.calls - over(self.held)


async def unfinished(app: AppContext, suite: Suite, panel: Panel) -> Experiment | None:
    """Give the newest experiment on this suite by these members that is not whole; None for none.

    The suite goes by what it holds.
    """
    seated = members_alone(panel)
    for experiment in await app.experiments.recent():
        same = experiment.suite.version == suite.version and experiment.panel == seated
        if same and not is_whole(experiment, await app.experiments.held(experiment.id)):
            return experiment
    return None


def new_experiment(app: AppContext, suite: Suite, panel: Panel, asked_by: str) -> Experiment:
    """Give an experiment that is not kept yet."""
    made_by = tuple(sorted({**versions(app.gateway), "grading": VERSION}.items()))
    id_ = f"{PREFIX}{app.new_id()}"
    seated = members_alone(panel)
    return Experiment(id_, suite, seated, asked_by, app.now(), versions=made_by)


async def found(app: AppContext, experiment: Experiment) -> PreparedExperiment:
    """Give an experiment with what there is of it; BudgetError where its price may not be open."""
    held = await app.experiments.held(experiment.id)
    cost = await rest_estimate(experiment, held, app.gateway)
    app.budget.check_prices(experiment.panel, cost)
    return PreparedExperiment(experiment, held, cost)


async def keep(app: AppContext, experiment: Experiment, cap_micro: int | None) -> Experiment:
    """Keep a new experiment, or go on with a kept one, under this cap where one is named."""
    if not await app.experiments.open(replace(experiment, cap_micro=cap_micro)):
        if cap_micro is None:
            return experiment
        await app.experiments.limit(experiment.id, cap_micro)
    return replace(experiment, cap_micro=cap_micro)


async def hold(
    app: AppContext, experiment: Experiment, show: Callable[[Progress], None]
) -> Progress:
    """Carry a kept experiment to its end, or as far as its budget goes.

    Raises ExperimentError where another process holds it.
    """
    async with app.bakeoff_registry.private_place(f"experiment {experiment.id}") as is_ours:
        if not is_ours:
            raise ExperimentError(f"Experiment {experiment.id} is being held by another process.")
        await app.prepare(experiment.panel)
        account = Account(experiment.id, app.now().date(), experiment.asked_by)
        paying = app.budget.covering(account, app.gateway, experiment.cap_micro, "experiment")
        async with paying as paid:
            at_once = app.bakeoff_rounds * len(experiment.panel.members)
            world = ExperimentServices(paid, app.experiments, at_once, lambda: paid.spent, show)
            held = await app.experiments.held(experiment.id)
            return await ExperimentRunner(world, experiment, held).run()


# --- An experiment's marks in the columns of the thesis' own file, a line of JSON each.


def lines_of(experiment: Experiment, held: ExperimentState) -> Iterator[str]:
    """Give a line for each grade that was given or given up on, in the suite's order.

    `score` and `thesis_score` are both our one, strict reading, 5 being best; `raw` is the grade
    as it was written, `parse` "strict" or "fail", tokens are those of both attempts.
    """
    attempts: dict[GradeRequest, list[GradeReply]] = defaultdict(list)
    for mark in held.marks:
        attempts[mark.cell].append(mark)
    settled = [mark for mark in last_marks(held).values() if is_settled(mark)]
    for mark in sorted(settled, key=_place):
        yield json.dumps(_row(experiment, mark, attempts[mark.cell]), ensure_ascii=False)


def _place(mark: GradeReply) -> tuple[int, str, str, str]:
    cell = mark.cell
    return cell.number, cell.framing.value, cell.author, cell.judge


def _row(
    experiment: Experiment, mark: GradeReply, attempts: Iterable[GradeReply]
) -> dict[str, object]:
    grade = grade_of(experiment, mark)
    score = None if grade.score is None else int(grade.score)
    replies = [attempt.reply for attempt in attempts]
    return {
        "article_id": grade.item,
        "framing": grade.framing.value,
        "judge": grade.judge,
        "author": grade.author,
        "score": score,
        "raw": mark.raw,
        "thesis_score": score,
        "parse": "fail" if mark.raw is None else "strict",
        "tokens_in": _total(reply.tokens_in for reply in replies),
        "tokens_out": _total(reply.tokens_out for reply in replies),
    }


def _total(counts: Iterable[int | None]) -> int | None:
    """Give the sum; one unknown makes it unknown."""
    known = [*counts]
    return None if None in known else sum(count or 0 for count in known)
