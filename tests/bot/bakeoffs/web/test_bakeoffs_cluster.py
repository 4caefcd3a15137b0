"""Bake-offs on the page of several processes."""

import asyncio
from dataclasses import replace

from bot.bakeoffs.lifecycle import BakeoffJobs, is_bakeoff_running
from council.places import Place
from tests.bot.bakeoffs.fakes import a_bakeoff, store_bakeoff
from tests.bot.cluster_fakes import processes
from tests.bot.web.browsing import NewSite
from tests.fakes.gateway import BlockedGateway


async def test_a_bake_off_begun_on_one_page_is_seen_and_cancelled_on_the_others(
    new_site: NewSite,
) -> None:
    gateway = BlockedGateway()
    _, (begins, holds, looks) = processes(3, gateway)
    page = new_site(looks).browser()
    await page.get("/")
    own = replace(a_bakeoff(place=Place("web")), asked_by=page.visitor.asker.id)
    bakeoff = await store_bakeoff(begins, own)
    assert holds.job_queue
    async with BakeoffJobs(holds, "web").serve_queue(holds.job_queue):
        running = await page.get(f"/bakeoffs/{bakeoff.id}/state")
        await page.post(f"/bakeoffs/{bakeoff.id}/cancel", **await page.form())
        async with asyncio.timeout(10):
            while await is_bakeoff_running(looks, bakeoff):  # noqa: ASYNC110 - works give no other sign
                await asyncio.sleep(0.01)
        over = await page.get(f"/bakeoffs/{bakeoff.id}/state")

    assert (running.json()["stopped"], running.json()["closed"]) == (False, False)
    assert (over.json()["stopped"], over.json()["closed"]) == (True, True)
