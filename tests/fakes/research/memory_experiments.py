"""An in-memory store of experiments."""

from dataclasses import replace

from council.research.experiment import (
    Experiment,
    ExperimentAnswer,
    ExperimentState,
    GradeReply,
    GradeRequest,
)


class MemoryExperiments:
    """Experiments in dictionaries."""

    def __init__(self) -> None:
        self._kept: dict[str, Experiment] = {}
        self._works: dict[tuple[str, int, str], ExperimentAnswer] = {}
        self._marks: dict[tuple[str, GradeRequest, int], GradeReply] = {}

    async def open(self, experiment: Experiment) -> bool:
        is_new = experiment.id not in self._kept
        self._kept.setdefault(experiment.id, experiment)
        return is_new

    async def limit(self, experiment_id: str, cap_micro: int | None) -> None:
        if found := self._kept.get(experiment_id):
            self._kept[experiment_id] = replace(found, cap_micro=cap_micro)

    async def list_recent(self) -> tuple[Experiment, ...]:
        by_id = sorted(self._kept.values(), key=lambda experiment: experiment.id)
        return tuple(sorted(by_id, key=lambda experiment: experiment.at, reverse=True))

    async def load_state(self, experiment_id: str) -> ExperimentState:
        works = [work for key, work in self._works.items() if key[0] == experiment_id]
        marks = [mark for key, mark in self._marks.items() if key[0] == experiment_id]
        return ExperimentState(tuple(works), tuple(marks))

    async def save(self, experiment_id: str, part: ExperimentAnswer | GradeReply) -> None:
        if isinstance(part, ExperimentAnswer):
            self._works.setdefault((experiment_id, part.number, part.member), part)
        else:
            self._marks.setdefault((experiment_id, part.cell, part.attempt), part)
