"""Work is done once, by one process at a time, and goes on where that process ends."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace

import psycopg
import pytest
from structlog.testing import capture_logs

from bot.cluster.connection import build_conninfo
from bot.cluster.job_queue import JobStatus, JobTakenError
from bot.ports import Job
from council.errors import BudgetError, StoreError
from tests.bot.cluster.processes import (
    QUICK,
    TIMEOUT_SECONDS,
    Clock,
    Process,
    Q,
    RecordingJobs,
    next_item,
    serve,
    start_process,
    wait_until,
    wait_until_ended,
)
from tests.postgres import Server

R1 = Job(Q, "r1")


async def begin(process: Process, recorder: RecordingJobs) -> None:
    """Enqueue a job, and wait until it runs."""
    await process.job_queue.enqueue(R1)
    await next_item(recorder.begun)


async def test_a_job_runs_once_in_one_process(one: Process, other: Process) -> None:
    async with serve(one) as here, serve(other) as there:
        await asyncio.gather(*(process.job_queue.enqueue(R1) for process in (one, other) * 3))
        here.may_end.set()
        there.may_end.set()
        await wait_until_ended(one, R1)

    assert sorted(here.done + there.done) == ["r1"]


async def test_a_running_job_is_not_enqueued_again(one: Process, other: Process) -> None:
    async with serve(one) as recorder:
        await begin(other, recorder)
        await other.job_queue.enqueue(R1)
        recorder.may_end.set()
        await wait_until_ended(other, R1)

    assert recorder.done == ["r1"]


async def test_a_queue_runs_in_the_processes_that_serve_it(one: Process, other: Process) -> None:
    async with serve(one, queue="show slack") as shows, serve(other) as carries:
        shows.may_end.set()
        carries.may_end.set()
        await other.job_queue.enqueue(Job("show slack", "r1"))
        await one.job_queue.enqueue(R1)
        await asyncio.gather(next_item(shows.ended), next_item(carries.ended))

    assert (shows.done, carries.done) == (["r1"], ["r1"])


async def test_no_more_jobs_than_allowed_run_at_once(one: Process) -> None:
    async with serve(one, at_once=2) as recorder:
        for name in ("a", "b", "c"):
            await one.job_queue.enqueue(Job(Q, name))
        first = [await next_item(recorder.begun) for _ in range(2)]
        held_back = recorder.begun.empty()
        recorder.may_end.set()
        third = await next_item(recorder.begun)

    assert (sorted([*first, third]), held_back) == (["a", "b", "c"], True)


async def test_a_stopped_job_does_not_run_again(one: Process, other: Process) -> None:
    async with serve(one) as recorder:
        await begin(other, recorder)
        stopped = await other.job_queue.stop(R1)
        await next_item(recorder.ended)

        assert await other.job_queue.are_stopped(stopped)
        assert (recorder.cancelled, await one.job_queue.is_queued(R1)) == (["r1"], False)


async def test_a_waiting_job_is_stopped_at_once(one: Process) -> None:
    await one.job_queue.enqueue(R1)

    assert await one.job_queue.stop(R1) == ()
    assert not await one.job_queue.is_queued(R1)


async def test_a_job_that_a_worker_takes_at_this_moment_is_stopped(
    one: Process, migrated_url: str
) -> None:
    await one.job_queue.enqueue(R1)
    conninfo = build_conninfo(migrated_url, "worker")
    async with await psycopg.AsyncConnection.connect(conninfo) as worker:
        await worker.execute("UPDATE procrastinate_jobs SET status = 'doing'")
        stopping = asyncio.create_task(one.job_queue.stop(R1))
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not await is_anyone_waiting_for_a_lock(worker):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await worker.commit()

        assert len(await stopping) == 1


async def is_anyone_waiting_for_a_lock(connection: psycopg.AsyncConnection) -> bool:
    """Return whether any session of this database waits for a lock."""
    waiting = "wait_event_type = 'Lock' AND datname = current_database()"
    cursor = await connection.execute(f"SELECT FROM pg_stat_activity WHERE {waiting}".encode())
    return cursor.rowcount > 0


async def test_a_job_enqueued_while_it_stops_runs_again(one: Process) -> None:
    async with serve(one) as recorder:
        await begin(one, recorder)
        await one.job_queue.stop(R1)
        await one.job_queue.enqueue(R1)

        assert await next_item(recorder.begun) == "r1"


async def test_a_failed_job_stays_failed_until_it_is_enqueued_again(one: Process) -> None:
    async with serve(one) as recorder:
        recorder.unfinished = ["r1"]
        recorder.error = BudgetError("Nothing is left of today's budget.")
        recorder.may_end.set()
        await one.job_queue.enqueue(R1)
        await next_item(recorder.ended)
        left = await one.job_queue.status(R1)
        await one.job_queue.fill(Q)
        still_left = not await one.job_queue.is_queued(R1)
        recorder.error = None
        await one.job_queue.enqueue(R1)
        await next_item(recorder.ended)

    fault = {"kind": "BudgetError", "why": "Nothing is left of today's budget."}
    assert left == JobStatus(is_queued=False, seconds=left.seconds, fault=fault)
    assert still_left
    assert recorder.done == ["r1"]


async def test_a_starting_process_retries_failed_jobs(one: Process, other: Process) -> None:
    async with serve(one) as recorder:
        recorder.error = BudgetError("Nothing is left of today's budget.")
        recorder.may_end.set()
        await one.job_queue.enqueue(R1)
        await next_item(recorder.ended)

    async with serve(other) as recorder:
        recorder.unfinished = ["r1"]
        await other.job_queue.fill(Q)

        assert await next_item(recorder.begun) == "r1"


async def test_an_unexpected_error_is_reported_without_its_text(one: Process) -> None:
    async with serve(one) as recorder:
        recorder.error = ZeroDivisionError("secret")
        recorder.may_end.set()
        with capture_logs() as logs:
            await one.job_queue.enqueue(R1)
            await next_item(recorder.ended)
        left = await one.job_queue.status(R1)

    assert left.fault is not None
    assert left.fault["why"].startswith("Something went wrong (ref ")
    assert [entry["event"] for entry in logs if entry["log_level"] == "error"] == ["work_failed"]


async def test_a_process_that_shuts_down_requeues_its_jobs_at_once(
    one: Process, other: Process
) -> None:
    async with AsyncExitStack() as stack:
        leaving = await stack.enter_async_context(serve(one))
        await begin(one, leaving)
        async with serve(other) as recorder:
            await stack.aclose()

            assert await next_item(recorder.begun) == "r1"
    assert leaving.cancelled == ["r1"]


async def test_jobs_of_a_killed_process_are_taken_over(one: Process, other: Process) -> None:
    async with serve(one) as killed:
        await begin(one, killed)
        async with serve(other) as recorder:
            one.kill()

            assert await next_item(recorder.begun) == "r1"
            recorder.may_end.set()
            await wait_until_ended(other, R1)

    assert (killed.done, recorder.done) == ([], ["r1"])


async def test_a_busy_process_requeues_stalled_jobs_too(one: Process, other: Process) -> None:
    async with serve(other, at_once=1) as full:
        await other.job_queue.enqueue(Job(Q, "long"))
        await next_item(full.begun)
        async with serve(one) as killed:
            await begin(one, killed)
            one.kill()
            # It has no room for it, but has it wait for whoever has.
            await until_waiting(other, R1)

            assert (full.begun.empty(), full.cancelled) == (True, [])


async def until_waiting(process: Process, work: Job) -> None:
    async def is_waiting() -> bool:
        rows = await process.job_queue.worker.jobs.connector.execute_query_all_async(
            "SELECT status::text AS status FROM procrastinate_jobs WHERE lock = %(lock)s",
            lock=f"{work.queue} {work.name}",
        )
        return [row["status"] for row in rows] == ["todo"]

    async with asyncio.timeout(10):
        while not await is_waiting():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_an_unfinished_job_without_a_row_is_enqueued(one: Process) -> None:
    async with serve(one) as recorder:
        recorder.unfinished = ["r1"]

        assert await next_item(recorder.begun) == "r1"
        recorder.unfinished = []
        recorder.may_end.set()
        await next_item(recorder.ended)


async def test_a_process_that_was_cut_off_abandons_jobs_that_another_took(
    one: Process, other: Process
) -> None:
    async with serve(one) as cut_off:
        await begin(one, cut_off)
        one.connector.is_cut = True
        async with serve(other) as recorder:
            await next_item(recorder.begun)
            went_on = not cut_off.cancelled
            one.connector.is_cut = False
            await next_item(cut_off.ended)

            assert (went_on, cut_off.cancelled) == (True, ["r1"])
            assert await other.job_queue.is_queued(R1)
            assert recorder.cancelled == []


async def test_a_frozen_process_abandons_its_jobs_when_it_thaws(migrated_url: str) -> None:
    clock = Clock()
    async with start_process(migrated_url, clock=clock) as frozen, serve(frozen) as recorder:
        lost: list[Job] = []
        frozen.job_queue.on_job_lost(lost.append)
        await begin(frozen, recorder)
        had = frozen.job_queue.is_running_here(R1)
        clock.now += 60
        has = frozen.job_queue.is_running_here(R1)
        frozen.job_queue.worker.freeze_detector.check()

        assert (had, has, lost) == (True, False, [R1])
        assert await next_item(recorder.ended) == "r1"
        assert recorder.cancelled == ["r1"]


async def test_a_short_freeze_changes_nothing(migrated_url: str) -> None:
    clock = Clock()
    async with start_process(migrated_url, clock=clock) as process, serve(process) as recorder:
        await begin(process, recorder)
        clock.now += QUICK.gap_seconds
        process.job_queue.worker.freeze_detector.check()

        assert process.job_queue.is_running_here(R1)


async def test_a_job_that_kills_its_process_repeatedly_fails(migrated_url: str) -> None:
    # A dead worker's row is deleted: waiting for its silence, a busy machine looks dead as well.
    timings = replace(QUICK, stalled_seconds=60.0)
    conninfo = build_conninfo(migrated_url, "council test")
    with capture_logs() as logs:
        for _ in range(QUICK.max_takeovers):
            async with start_process(migrated_url, timings) as process, serve(process) as recorder:
                await begin(process, recorder)
                process.kill()
            async with await psycopg.AsyncConnection.connect(conninfo) as connection:
                await connection.execute("DELETE FROM procrastinate_workers")
        async with start_process(migrated_url, timings) as process, serve(process) as recorder:
            recorder.unfinished = ["r1"]
            await wait_until(lambda: "work_left" in [entry["event"] for entry in logs])
            left = await process.job_queue.status(R1)
            await process.job_queue.forget_failures(Q)
            await process.job_queue.fill(Q)

            assert not await process.job_queue.is_queued(R1)

    assert left.fault is not None
    assert left.fault["why"].startswith("It ended the process that did it")
    assert recorder.done == []


async def test_running_jobs_survive_a_restart_of_the_server(
    migrated_url: str, postgres: Server
) -> None:
    timings = replace(QUICK, settle_seconds=1.5)
    async with start_process(migrated_url, timings) as one, serve(one) as recorder:
        await begin(one, recorder)
        async with start_process(migrated_url, timings) as other, serve(other) as idle:
            await asyncio.to_thread(postgres.stop)
            await asyncio.sleep(QUICK.stalled_seconds)  # it is silence that is waited for
            await asyncio.to_thread(postgres.start)
            recorder.may_end.set()
            await wait_until_ended(other, R1)

    assert (recorder.done, recorder.cancelled) == (["r1"], [])
    assert idle.begun.empty()


async def test_nothing_is_requeued_until_every_worker_could_send_a_heartbeat(
    migrated_url: str,
) -> None:
    clock = Clock()
    patient = replace(QUICK, settle_seconds=0.2)
    async with start_process(migrated_url) as killed, serve(killed) as recorder:
        await begin(killed, recorder)
        killed.kill()
        async with start_process(migrated_url, patient, clock) as process, serve(process) as taker:
            await asyncio.sleep(1.5 * QUICK.stalled_seconds)  # it is silence that is waited for
            too_early = taker.begun.empty()
            clock.now += 1

            assert await next_item(taker.begun) == "r1"
    assert too_early


async def test_a_job_that_fails_during_an_outage_is_retried(one: Process) -> None:
    async with serve(one) as recorder:
        await begin(one, recorder)
        one.monitor.mark_troubled()
        recorder.error = StoreError("Can't reach the database server.")
        recorder.may_end.set()
        again = await next_item(recorder.begun)
        recorder.error = None
        await wait_until_ended(one, R1)

    assert (again, recorder.done) == ("r1", ["r1"])


async def test_a_locked_job_runs_in_no_other_process(one: Process, other: Process) -> None:
    async with serve(other) as recorder:
        async with one.job_queue.lock(R1):
            await other.job_queue.enqueue(R1)
            with pytest.raises(JobTakenError, match="under way in another process"):
                async with other.job_queue.lock(R1):
                    pass
            begun = await other.job_queue.is_queued(R1)

        assert begun
        assert not await other.job_queue.is_queued(R1)
        assert recorder.begun.empty()


async def test_a_job_of_the_cluster_cannot_be_locked(one: Process, other: Process) -> None:
    async with serve(other) as recorder:
        await begin(one, recorder)

        with pytest.raises(JobTakenError):
            async with one.job_queue.lock(R1):
                pass


async def test_the_lock_of_a_killed_process_is_released(one: Process, other: Process) -> None:
    has_it = asyncio.Event()

    async def hold() -> None:
        async with one.job_queue.lock(R1):
            has_it.set()
            await asyncio.Event().wait()

    holding = asyncio.create_task(hold())
    await has_it.wait()
    one.connector.is_cut = True
    await asyncio.sleep(2 * QUICK.stalled_seconds)  # it is silence that is waited for

    async with other.job_queue.lock(R1):
        has_other = await other.job_queue.is_queued(R1)

    holding.cancel()
    await asyncio.wait([holding])
    assert has_other


async def test_unknown_job_arguments_are_ignored(one: Process) -> None:
    async with serve(one) as recorder:
        recorder.may_end.set()
        await one.job_queue.worker.jobs.connector.execute_query_async(
            "INSERT INTO procrastinate_jobs (queue_name, task_name, lock, queueing_lock, args) "
            "VALUES ('rounds', 'council', 'rounds r1', 'rounds r1', %(args)s::jsonb)",
            args={"name": "r1", "of_the_future": 7},
        )

        assert await next_item(recorder.ended) == "r1"


async def test_missing_tables_are_one_sentence(postgres_url: str) -> None:
    with pytest.raises(StoreError, match="run `council db upgrade`"):
        async with start_process(postgres_url):
            pass


async def test_an_unreachable_database_is_one_sentence(one: Process) -> None:
    one.connector.is_cut = True

    with pytest.raises(StoreError, match="Can't reach the database server"):
        await one.job_queue.enqueue(R1)


async def test_a_sweep_does_not_requeue_its_own_process_jobs(
    migrated_url: str,
) -> None:
    silent = replace(QUICK, heartbeat_seconds=60.0)
    async with start_process(migrated_url, silent) as busy, serve(busy) as recorder:
        await begin(busy, recorder)
        await asyncio.sleep(1.5 * QUICK.stalled_seconds)  # it is silence that is waited for

        assert recorder.cancelled == []
        assert recorder.begun.empty()
