"""Matrix queries: load a bake-off question by question, and compare it with another run."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bot.bakeoffs.access import can_read_bakeoff
from bot.bakeoffs.leaderboard import compute_changes
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.posting import bakeoff_leaderboard, bakeoff_matrix, bakeoff_records
from bot.bakeoffs.records import Baseline, record_as_json
from bot.bakeoffs.render.bakeoffs import bakeoff_document
from bot.bakeoffs.render.headline import leading_lines, missing_lines
from bot.bakeoffs.render.leaderboard_export import Document
from bot.bakeoffs.render.leaderboard_tables import Leaderboard
from bot.bakeoffs.render.trials import trial_document, trial_missing_lines, trial_sentence
from bot.bakeoffs.trials import Tried, load_tried
from bot.chat import IncomingMessage
from bot.context import AppContext
from bot.render.formatting import panel_seat_names
from council.bakeoffs.changes import Changes
from council.bakeoffs.matrix import RunMatrix, build_matrix, compare_runs
from council.bakeoffs.models import Bakeoff, BakeoffProgress
from council.bakeoffs.ports import BakeoffQuery
from council.bakeoffs.records import PackedRecord
from council.rubric_grader import GRADE, grader_agreement

MAX_EARLIER_RUNS = 8  # offered for comparison


@dataclass(frozen=True, slots=True)
class BakeoffResults:
    """A bake-off with its leaderboard, its matrix and its records; a trial with its result."""

    progress: BakeoffProgress
    board: Leaderboard
    run: RunMatrix
    records: Sequence[PackedRecord]
    tried: Tried | None = None

    @property
    def missing(self) -> list[str]:
        """What is missing, in sentences."""
        return [*(trial_missing_lines(self.tried) if self.tried else missing_lines(self.board))]

    @property
    def leading(self) -> list[str]:
        """What it shows, in sentences: that of a trial, else who leads and who keeps up."""
        return [trial_sentence(self.tried)] if self.tried else [*leading_lines(self.board)]

    @property
    def document(self) -> Document:
        """The whole as a JSON document; slow if there are many records."""
        records = [record_as_json(record) for record in self.records]
        document = bakeoff_document(self.progress, self.board, self.run, records)
        if self.tried is None:
            return document
        trial = trial_document(self.tried)
        return document | {"headline": trial["sentence"], "trial": trial}


async def load_results(
    app: AppContext, progress: BakeoffProgress, against: Bakeoff | None = None
) -> BakeoffResults:
    """Return the results of a bake-off so far, next to those of another run if there is one."""
    board = await bakeoff_leaderboard(app, progress.bakeoff)
    if against:
        board = replace(board, names=panel_seat_names([against.panel]) | {**board.names})
    run = await load_matrix(app, progress, against)
    tried = await load_tried(app, progress) if progress.bakeoff.panel.trial else None
    records = await bakeoff_records(app, progress.bakeoff)
    return BakeoffResults(progress, board, run, records, tried)


async def load_matrix(
    app: AppContext, progress: BakeoffProgress, against: Bakeoff | None = None
) -> RunMatrix:
    """Return the matrix of a bake-off, next to that of another run if there is one."""
    bakeoff = progress.bakeoff
    failures = {one.number: one.why for one in progress.failed}
    matrix, now = await bakeoff_matrix(app, bakeoff, failures)
    agreement = None
    if any(question.rubric for question in bakeoff.suite.questions):
        agreement = grader_agreement(await app.store.list_scores(bakeoff.id, GRADE))
    if against is None:
        return RunMatrix(bakeoff, matrix, agreement=agreement)
    other, before = await bakeoff_matrix(app, against, {})
    earlier = compare_runs(matrix, other)
    numbers = {row.number: number for number, row in earlier.before.items()}
    changes = await asyncio.to_thread(
        compute_changes,
        [record for record in now if record.number in earlier.before],
        _renumber(before, numbers, bakeoff.suite.version),
    )
    return RunMatrix(bakeoff, matrix, against, earlier, changes, agreement)


def compare_with_baseline(now: Sequence[PackedRecord], before: Baseline) -> Changes | None:
    """Return what changed since the run in a file; None if no question was answered."""
    changes = compute_changes(now, before.records)
    return changes and replace(changes, baseline=before.at)


def against_baseline(run: RunMatrix, before: Baseline) -> RunMatrix:
    """Return a run next to an earlier one of the same questions, of which only records are left."""
    bakeoff = run.bakeoff
    earlier = build_matrix(bakeoff, (), before.records, {})
    against = replace(bakeoff, id=before.records[0].bakeoff, at=before.at)
    return replace(run, against=against, earlier=compare_runs(run.matrix, earlier))


def _renumber(
    records: Sequence[PackedRecord], numbers: Mapping[int, int], version: str
) -> list[PackedRecord]:
    """Return the records of the questions in `numbers` as if they were of this suite version."""
    return [
        record._replace(number=numbers[record.number], suite_version=version)
        for record in records
        if record.number in numbers
    ]


async def earlier_runs(
    app: AppContext, message: IncomingMessage, bakeoff: Bakeoff
) -> tuple[Bakeoff, ...]:
    """Return the runs of the same suite before a bake-off that a reader may see, newest first."""
    wanted = BakeoffQuery(scope=bakeoff.place.scope, suite=bakeoff.suite.name, before=bakeoff.at)
    found = await bakeoff_stores(app).bakeoffs.list_recent(MAX_EARLIER_RUNS, wanted)
    return tuple(one for one in found if can_read_bakeoff(message, one))
