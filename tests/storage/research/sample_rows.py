"""Rows in every table of the laboratory."""

from sqlalchemy.ext.asyncio import AsyncEngine

from storage.research.experiments import SqlExperiments
from tests.council.research.experiment_builders import a_mark, a_work, an_experiment
from tests.storage.bakeoffs.benches import SUITE

TABLES = "experiment experiment_answer experiment_mark"


async def store_rows(engine: AsyncEngine) -> None:
    """Store something in every table."""
    experiments = SqlExperiments(engine)
    await experiments.open(an_experiment(suite=SUITE))
    for part in (a_work(), a_mark()):
        await experiments.save("bx:1", part)
