"""An experiment and the report on its grades for programs."""

from bot.render.grades.document import Document, grades_document
from council.money import MICRO
from council.research.experiment import Progress
from council.research.grades import GradeReport


def experiment_document(progress: Progress, report: GradeReport) -> Document:
    """Give what `council bias run --json` prints: the report, and what it comes from."""
    experiment = progress.experiment
    return {
        **grades_document(report),
        "experiment": {
            "id": experiment.id,
            "suite": experiment.suite.name,
            "version": experiment.suite.version,
            "panel": experiment.panel.name,
            "questions": len(experiment.suite.questions),
            "calls": experiment.calls,
            "answers": progress.answers,
            "grades": progress.grades,
            "spoiled": progress.spoiled,
            "failed": [
                {"member": failure.seat, "why": failure.why, "times": times}
                for failure, times in progress.failures
            ],
            "stopped": progress.blocked,
            "spent_usd": progress.spent_micro / MICRO,
        },
    }
