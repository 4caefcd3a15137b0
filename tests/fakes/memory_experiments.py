"""Experiments that are gone when the process ends."""

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
        """Keep a new experiment; False if its id is kept already."""
        is_new = experiment.id not in self._kept
        self._kept.setdefault(experiment.id, experiment)
        return is_new

    async def limit(self, experiment_id: str, cap_micro: int | None) -> None:
        """Have an experiment spend so much at most; None is no cap."""
        if found := self._kept.get(experiment_id):
            self._kept[experiment_id] = replace(found, cap_micro=cap_micro)

    async def recent(self) -> tuple[Experiment, ...]:
        """Give every experiment, newest first."""
        by_id = sorted(self._kept.values(), key=lambda experiment: experiment.id)
        return tuple(sorted(by_id, key=lambda experiment: experiment.at, reverse=True))

    async def held(self, experiment_id: str) -> ExperimentState:
        """Give what there is of an experiment."""
        works = [work for key, work in self._works.items() if key[0] == experiment_id]
        marks = [mark for key, mark in self._marks.items() if key[0] == experiment_id]
        return ExperimentState(tuple(works), tuple(marks))

    async def save(self, experiment_id: str, part: ExperimentAnswer | GradeReply) -> None:
        """Keep an answer or a mark, the first of each."""
        if isinstance(part, ExperimentAnswer):
            self._works.setdefault((experiment_id, part.number, part.member), part)
        else:
            self._marks.setdefault((experiment_id, part.cell, part.attempt), part)
