"""What earlier bake-offs tell in a list and before a new one: their outcome, and their cost."""

import asyncio

from bot.bakeoffs.leaderboard import LeaderboardQuery, count_records
from bot.bakeoffs.parts import OutcomeCache, bakeoff_stores
from bot.bakeoffs.records import update_records
from bot.bakeoffs.render.headline import headline
from bot.bakeoffs.render.trials import trial_sentence
from bot.bakeoffs.trials import load_tried
from bot.context import AppContext
from bot.render.formatting import panel_seat_names
from council.bakeoffs.models import Bakeoff, BakeoffProgress
from council.bakeoffs.ports import BakeoffQuery, RecordQuery
from council.ports import RoundQuery

_MAX_OUTCOMES = 500  # kept in memory
_MAX_RUNS = 5  # whose cost counts


async def load_outcome(app: AppContext, progress: BakeoffProgress) -> str:
    """Return what a bake-off shows in one sentence; "" if it runs, or if nothing can be said."""
    bakeoff = progress.bakeoff
    if bakeoff.ending is None or len(bakeoff.suite.methods) > 1:
        return ""
    kept = app.parts.get(OutcomeCache).sentences
    key = (bakeoff.id, bakeoff.ending.at.isoformat())
    if key not in kept:
        await update_records(app)
        kept[key] = await _compute_outcome(app, progress)
        while len(kept) > _MAX_OUTCOMES:
            kept.popitem(last=False)
    return kept[key]


async def _compute_outcome(app: AppContext, progress: BakeoffProgress) -> str:
    bakeoff = progress.bakeoff
    if bakeoff.panel.trial:
        return trial_sentence(await load_tried(app, progress))
    records = await bakeoff_stores(app).records.list_recent(RecordQuery(bakeoff=bakeoff.id))
    names = panel_seat_names((*app.panels.values(), bakeoff.panel))
    query = LeaderboardQuery(bakeoff.suite.name, bakeoff.suite.version)
    return headline(await asyncio.to_thread(count_records, records, query, names))


async def usual_cost(app: AppContext, bakeoff: Bakeoff) -> int | None:
    """Return what a question cost in earlier runs of its suite by its panel, times its questions.

    In micro-dollars; None if there was no such run, or the cost of any call is unknown.
    """
    wanted = BakeoffQuery(
        bakeoff.place.scope, bakeoff.suite.name, bakeoff.panel.name, before=bakeoff.at
    )
    asked, micro = 0, 0
    for run in await bakeoff_stores(app).bakeoffs.list_recent(_MAX_RUNS, wanted):
        if run.panel != bakeoff.panel:
            continue
        lines = await app.store.list_summaries(wanted=RoundQuery(bakeoff=run.id, succeeded=True))
        ids = [line.id for line in lines]
        spent = await app.budget.ledger.spent_by_round(ids)
        if any(one.unknown_calls for one in spent.values()):
            return None
        asked += len(ids)
        micro += sum(one.micro for one in spent.values())
    return micro * len(bakeoff.suite.questions) // asked if asked else None
