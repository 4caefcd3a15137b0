"""Lines of experiments in the export format: one for each, and one for each of its replies."""

from dataclasses import dataclass

from pydantic import TypeAdapter

from council.research.experiment import Experiment, ExperimentAnswer, GradeReply
from storage.export import ExportKind


@dataclass(frozen=True, slots=True)
class ExperimentPart:
    """An answer or a grade of an experiment."""

    experiment_id: str
    part: ExperimentAnswer | GradeReply


EXPERIMENT = ExportKind(
    name="research.experiment",
    noun="experiment",
    adapter=TypeAdapter(Experiment),
    describe=lambda experiment: f"Experiment {experiment.id!r}",
)
PART = ExportKind(
    name="research.reply",
    noun="reply of an experiment",
    adapter=TypeAdapter(ExperimentPart),
    describe=lambda part: f"A reply of experiment {part.experiment_id!r}",
)
KINDS = (EXPERIMENT, PART)
