"""What the asker is told at once, with what is known of the panel."""

from statistics import median

from bot.chat import Post
from bot.commands.desk import Desk
from bot.render.acceptance import accepted_post
from council.estimates import estimated
from council.panel import Panel
from council.ports import Store, Wanted
from council.rounds import Round

FEWEST_ROUNDS, MOST_ROUNDS = 3, 20


async def accepted(desk: Desk, round_: Round) -> Post:
    """Give the private word that a question was taken in."""
    estimate = await estimated(round_, desk.gateway)
    return accepted_post(round_, estimate, await usual_seconds(desk.store, round_.panel))


async def usual_seconds(store: Store, panel: Panel) -> float | None:
    """Give how long a round of the panel takes, the median of its last; None for too few."""
    lines = await store.recent(MOST_ROUNDS, Wanted(panel=panel.name, succeeded=True))
    seconds = [line.seconds for line in lines if line.seconds is not None]
    return median(seconds) if len(seconds) >= FEWEST_ROUNDS else None
