"""What bake-offs do while the program runs: stores, runs, schedules and records.

Each start of the program imports this module, so what only some of them need is imported late.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from sqlalchemy.ext.asyncio import AsyncEngine

from bot.bakeoffs.parts import BakeoffSettings, OutcomeCache, bakeoff_registry, bakeoff_stores
from bot.bakeoffs.records import count_missing_rounds, judges_consistency
from bot.bakeoffs.registry import BakeoffRegistry
from bot.chat import FindChat
from bot.context import AppContext
from bot.plugins import RecordSources
from bot.ports import PAGE, JobQueue
from bot.services import Service
from bot.settings import PanelConfig, Settings
from council.bakeoffs.models import Suite
from council.bakeoffs.ports import BakeoffStores, RecordQuery
from council.rounds import Round
from storage.bakeoffs.bakeoffs import SqlBakeoffs, SqlSchedules, SqlSuites
from storage.bakeoffs.records import SqlRecords, sql_votes

if TYPE_CHECKING:
    from bot.bakeoffs.settings import BakeoffsSection
    from council.bakeoffs.bias.report import BiasReport


def open_stores(engine: AsyncEngine, _: Settings) -> tuple[object, ...]:
    """Return the stores of bake-offs."""
    return (
        BakeoffStores(
            suites=SqlSuites(engine),
            bakeoffs=SqlBakeoffs(engine),
            schedules=SqlSchedules(engine),
            records=SqlRecords(engine),
            votes=sql_votes(engine),
        ),
    )


async def open_service(app: AppContext, config: PanelConfig) -> "BakeoffService":
    """Return the service, its registry and settings added to the application's parts.

    Store the suites of council.toml.
    """
    settings = BakeoffSettings(measure_bias=_measure_bias)
    section: BakeoffsSection | None = config.sections.get("bakeoffs")
    if section:
        settings.rounds_at_once = section.rounds_at_once
    if zone := config.sections.get("time_zone"):
        settings.zone = zone
    app.parts.add(settings)
    app.parts.add(BakeoffRegistry(app.claims))
    app.parts.add(OutcomeCache())
    suites: Sequence[Suite] = config.sections.get("suites", ())
    for suite in suites:  # an unchanged one is not stored again
        await bakeoff_stores(app).suites.save(suite, "council.toml", app.now())
    return BakeoffService(app)


async def _measure_bias(sources: RecordSources, query: RecordQuery) -> "BiasReport":
    from bot.bakeoffs.bias_report import bias_report

    return await bias_report(sources, query)


class BakeoffService(Service):
    """Runs bake-offs, starts those of schedules, and counts closed rounds."""

    def __init__(self, app: AppContext) -> None:
        self._app = app

    def tasks(self) -> Sequence[Coroutine[None, None, None]]:
        """Return the scheduler, and what stores and measures the numbers of rounds."""
        from bot.bakeoffs.bias_report import measure_shared_error_daily
        from bot.bakeoffs.scheduler import Scheduler

        app = self._app
        tasks = [
            Scheduler(app).run(),
            count_missing_rounds(app, app.leader_lock),
            measure_shared_error_daily(app),
        ]
        if app.job_queue:
            tasks.append(_run_page_bakeoffs(app, app.job_queue))
        return tasks

    async def resume(self) -> None:
        """Resume the bake-offs of the page and the command line; in a cluster they are jobs."""
        from bot.bakeoffs.lifecycle import resume_local_bakeoffs

        if self._app.job_queue is None:
            await resume_local_bakeoffs(self._app)

    @asynccontextmanager
    async def serve_chat(self, chat: str, queue: str, find_chat: FindChat) -> AsyncIterator[None]:
        """Run the bake-offs of a chat; in a cluster as jobs, else those that are unfinished."""
        from bot.bakeoffs.lifecycle import BakeoffJobs, resume_bakeoffs_of_chat

        app = self._app
        if app.job_queue:
            async with BakeoffJobs(app, queue, find_chat).serve_queue(app.job_queue):
                yield
            return
        await resume_bakeoffs_of_chat(app, chat, find_chat)
        yield

    async def resume_workspace(self, chat: str, find_chat: FindChat) -> None:
        """Resume the unfinished bake-offs of a workspace."""
        from bot.bakeoffs.lifecycle import resume_bakeoffs_of_chat

        await resume_bakeoffs_of_chat(self._app, chat, find_chat)

    async def stop_chat(self, chat: str, workspace: str | None = None) -> None:
        """Stop the bake-offs that report to a chat or workspace; their rounds run on."""
        await bakeoff_registry(self._app).stop(chat, workspace)

    async def delete_workspace(self, chat: str, workspace: str) -> None:
        """Delete the drafts of suites, the shared reports and the baselines of a workspace."""
        from bot.bakeoffs.baselines import BASELINE
        from bot.bakeoffs.commands.reports import SHARE
        from bot.bakeoffs.commands.suites import DRAFT

        for kind in (DRAFT, SHARE, BASELINE):
            await self._app.key_values.delete(kind, f"{chat}/{workspace}/")

    async def opening_versions(self, round_: Round) -> Mapping[str, str]:
        """Return the weights of a new round's judges by consistency, if they are known."""
        return await judges_consistency(self._app, round_)

    async def close(self) -> None:
        """Stop all bake-offs of this process."""
        await bakeoff_registry(self._app).stop()


async def _run_page_bakeoffs(app: AppContext, job_queue: JobQueue) -> None:
    from bot.bakeoffs.lifecycle import BakeoffJobs

    async with BakeoffJobs(app, PAGE).serve_queue(job_queue):
        await asyncio.Event().wait()
