"""Methods: named ways in which a panel judges its answers."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from council.pipeline.session import RoundSession
from council.pipeline.stages import collect_ballots
from council.round_rules import compute_tally
from council.rounds import Draw
from council.tally import Tally
from council.tally.agreement import effective_judges

Method = Callable[[RoundSession, Draw], Awaitable[Tally]]


async def rank_blind(session: RoundSession, draw: Draw) -> Tally:
    """Ask every judge for a blind ranking; return the tally (Borda count in pair form)."""
    await collect_ballots(session, draw)
    # Sampling p takes tenths of a second, which would block other rounds.
    tally: Tally = await session.services.in_thread(compute_tally, session.round_, draw)
    past = await session.services.store.load_past_ballots(session.round_.panel.name)
    return replace(tally, verdict=replace(tally.verdict, n_eff=effective_judges(past)))


METHODS: Mapping[str, Method] = {"blind-ranking": rank_blind}
