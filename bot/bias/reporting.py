"""The bias of judges over the rounds that are wanted, counted beside the event loop."""

import asyncio

from bot.bakeoffs.keeping import Parts, Tell, logged, votes_up_to_date
from bot.bakeoffs.uncollected import uncollected
from council.bakeoffs.ports import EVERY_RECORD, WantedRecords
from council.bias.measurement import measured
from council.bias.report import BiasReport
from council.bias.vote_arrays import blocks


async def bias_report(
    parts: Parts, wanted: WantedRecords = EVERY_RECORD, tell: Tell = logged
) -> BiasReport:
    """Give the bias of every judge over the closed rounds that are wanted.

    Of rounds that are not counted yet the numbers are made first; `tell` hears of those that
    cannot be. Where no round fits, the report has no judges.
    """
    await votes_up_to_date(parts, tell)
    with uncollected():
        kept = await parts.bench.votes.recent(wanted)
        return await asyncio.to_thread(lambda: measured(blocks(kept)))
