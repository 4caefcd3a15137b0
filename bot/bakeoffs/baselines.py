"""Baselines that do not drift: the run that later runs of a suite by a panel are compared with."""

from bot.bakeoffs.parts import bakeoff_stores
from bot.context import AppContext
from council.bakeoffs.changes import LostBaseline
from council.bakeoffs.models import Bakeoff
from council.errors import BakeoffError

BASELINE = "baseline"  # the kind of memo


async def bless(app: AppContext, bakeoff: Bakeoff) -> None:
    """Compare later runs of a suite by a panel with this one; BakeoffError if it is not whole."""
    if bakeoff.panel.trial:
        raise BakeoffError(
            "A try of one model can't be the baseline. Name a bake-off of the whole panel."
        )
    if bakeoff.ending is None or bakeoff.ending.failure:
        raise BakeoffError(
            "Only a finished bake-off can be the baseline. Resume it, or choose another one."
        )
    await app.key_values.put(BASELINE, _key(bakeoff), bakeoff.id)


async def unbless(app: AppContext, bakeoff: Bakeoff) -> bool:
    """Compare runs of its suite and panel with the ones before again; False if they were."""
    return await app.key_values.pop(BASELINE, _key(bakeoff)) is not None


async def is_blessed(app: AppContext, bakeoff: Bakeoff) -> bool:
    """Return whether later runs are compared with this one."""
    return await app.key_values.read(BASELINE, _key(bakeoff)) == bakeoff.id


async def blessed_run(app: AppContext, bakeoff: Bakeoff) -> Bakeoff | LostBaseline | None:
    """Return the run that a bake-off is compared with; None for the ones before it.

    None also if the run is newer, or is the bake-off itself.
    """
    id_ = await app.key_values.read(BASELINE, _key(bakeoff))
    if not id_ or id_ == bakeoff.id:
        return None
    try:
        found = await bakeoff_stores(app).bakeoffs.load(id_)
    except BakeoffError:
        return LostBaseline(id_)
    if found.at >= bakeoff.at:
        return None
    if found.suite.version != bakeoff.suite.version:
        return LostBaseline(id_, found.at)
    return found


def _key(bakeoff: Bakeoff) -> str:
    return f"{bakeoff.place.scope}/{bakeoff.suite.name}/{bakeoff.panel.name}"
