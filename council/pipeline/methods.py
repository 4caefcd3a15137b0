"""The default method: own slot removed, balanced order, Borda count in pair form."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from council.pipeline.session import RoundSession
from council.pipeline.stages import collect_ballots
from council.round_rules import counted
from council.rounds import Draw
from council.tally import Tally
from council.tally.agreement import effective_judges

# --- The default method: own slot removed, balanced order, Borda count in pair form.


async def blind_ranking(sitting: RoundSession, draw: Draw) -> Tally:
    """Have every judge rank its slate, and give what the ballots come to."""
    await collect_ballots(sitting, draw)
    # Where p is drawn it takes some tenths of a second, which other rounds need not wait for.
    tally = await asyncio.to_thread(counted, sitting.round_, draw)
    past = await sitting.council.store.past_ballots(sitting.round_.panel.name)
    verdict = replace(tally.verdict, n_eff=effective_judges(past))
    return replace(tally, verdict=verdict)


# --- Methods: named ways in which a panel judges its answers.

Method = Callable[[RoundSession, Draw], Awaitable[Tally]]

METHODS: Mapping[str, Method] = {"blind-ranking": blind_ranking}
