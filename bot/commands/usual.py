"""How long a round of a panel usually takes, as the rounds before it tell."""

from statistics import median

from council.ports import Store, Wanted

FEWEST_ROUNDS, MOST_ROUNDS = 3, 20


async def usual_seconds(store: Store, panel: str) -> float | None:
    """Give how long a round of the panel takes, the median of its last; None for too few."""
    lines = await store.recent(MOST_ROUNDS, Wanted(panel=panel, succeeded=True))
    seconds = [line.seconds for line in lines if line.seconds is not None]
    return median(seconds) if len(seconds) >= FEWEST_ROUNDS else None
