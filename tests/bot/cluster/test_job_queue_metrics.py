"""Work, takeovers and the bus are among the figures."""

import asyncio

from prometheus_client import REGISTRY

from bot.ports import Job
from tests.bot.cluster.processes import Process, next_item, serve, wait_until, wait_until_ended
from tests.postgres import Server

QUEUE = "bakeoffs figures"  # no other test's
R1 = Job(QUEUE, "r1")


def figure(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0


def works(state: str) -> float:
    return figure("council_works", queue=QUEUE, state=state)


async def test_waiting_and_running_jobs_are_counted(one: Process) -> None:
    await one.job_queue.enqueue(R1)
    await wait_until(lambda: works("waiting") == 1)

    async with serve(one, queue=QUEUE) as recorder:
        await next_item(recorder.begun)
        await wait_until(lambda: (works("waiting"), works("doing")) == (0, 1))
        assert figure("council_works_here", queue=QUEUE) == 1
        recorder.may_end.set()
        await wait_until(lambda: works("doing") == 0)

    assert figure("council_works_here", queue=QUEUE) == 0


async def test_jobs_of_a_killed_process_are_counted_as_stalled_and_taken_over(
    one: Process, other: Process
) -> None:
    before = figure("council_takeovers_total", queue=QUEUE)
    async with serve(one, queue=QUEUE) as killed:
        await one.job_queue.enqueue(R1)
        await next_item(killed.begun)
        one.kill()
        await wait_until(lambda: works("stalled") == 1)
        async with serve(other, queue=QUEUE) as recorder:
            await next_item(recorder.begun)
            recorder.may_end.set()
            await wait_until_ended(other, R1)

    assert figure("council_takeovers_total", queue=QUEUE) == before + 1


async def test_reconnects_of_publish_subscribe_are_counted(one: Process, postgres: Server) -> None:
    before = figure("council_bus_reconnects_total")

    with one.pubsub.subscription("any") as received:
        await asyncio.to_thread(postgres.restart)
        await next_item(received)

    assert figure("council_bus_reconnects_total") > before
