"""Experiments in exports and imports, and rankings and votes without texts for researchers."""

from collections.abc import AsyncIterator
from datetime import datetime

from bot.exports import Exporter, Importer
from bot.plugins import RecordSources
from bot.research.parts import experiment_store
from bot.research.services import export_judgments
from council.research.experiment import Experiment, ExperimentAnswer, GradeReply
from storage.export import ExportedItem
from storage.research.export import EXPERIMENT, KINDS, PART, ExperimentPart

JUDGMENTS = "judgments"


class JudgmentExporter(Exporter):
    """Exports experiments, and the rankings and votes of rounds."""

    formats = {JUDGMENTS: "only rankings and votes, without texts"}  # noqa: RUF012 - a constant

    async def list_items(self, since: datetime | None) -> AsyncIterator[ExportedItem]:
        """Yield the experiments since a time, each with its answers and grades."""
        store = experiment_store(self.stores)
        for experiment in reversed(await store.list_recent()):
            if not since or experiment.at >= since:
                yield ExportedItem(EXPERIMENT, experiment)
                state = await store.load_state(experiment.id)
                parts: list[ExperimentAnswer | GradeReply] = [*state.answers, *state.replies]
                for part in parts:
                    yield ExportedItem(PART, ExperimentPart(experiment.id, part))

    async def dump_round(self, kind: str, round_id: str) -> str:
        """Return a round's rankings and votes as JSON Lines."""
        return await export_judgments(self.stores, round_id)


class ExperimentImporter(Importer):
    """Imports experiments; replies are added only to those that this import has added."""

    kinds = KINDS

    def __init__(self, stores: RecordSources) -> None:
        super().__init__(stores)
        self._new: set[str] = set()

    async def store(self, item: ExportedItem) -> bool:
        """Store an experiment or a reply; return False if the experiment was there already."""
        store = experiment_store(self.stores)
        match item.value:
            case Experiment() as experiment:
                is_new = await store.open(experiment)
                self._new |= {experiment.id} if is_new else set()
                return is_new
            case ExperimentPart(experiment_id, part):
                if experiment_id not in self._new:
                    return False
                await store.save(experiment_id, part)
                return True
        raise TypeError(f"{item.kind.name} is not of an experiment")
