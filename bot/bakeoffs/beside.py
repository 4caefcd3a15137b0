"""What the leaderboard would have said of a round: the board before it as prior."""

import asyncio
from collections.abc import Sequence

from bot.bakeoffs.keeping import Parts, records_up_to_date
from bot.bakeoffs.uncollected import uncollected
from bot.chat import Post
from bot.render.leaderboard_weighted import beside_post, too_few
from council.bakeoffs.pairwise import scores_of
from council.bakeoffs.ports import WantedRecords
from council.bakeoffs.record_arrays import columns
from council.bakeoffs.records import Packed
from council.research.posterior import posterior
from council.rounds import Round
from council.tally.standings import informative

FEWEST_ROUNDS = 10  # on the board, before it has a say


async def beside(parts: Parts, round_: Round) -> Post:
    """Give a closed round's answers with the leaderboard of the rounds before it as prior.

    The board is that of the round's own workspace. Nothing of it is stored or counted.
    """
    await records_up_to_date(parts)
    wanted = WantedRecords(scope=round_.question.place.scope, before=round_.asked_at)
    with uncollected():
        kept = await parts.bench.records.recent(wanted)
        return await asyncio.to_thread(_beside, round_, kept)


def _beside(round_: Round, kept: Sequence[Packed]) -> Post:
    ballots = informative(round_.ballots) if round_.tally else ()
    if len(kept) < FEWEST_ROUNDS or not round_.draw or not ballots:
        return too_few(round_, len(kept), FEWEST_ROUNDS)
    strengths = scores_of(columns(kept))
    likely = posterior(round_.draw.labels, ballots, strengths, round_.seed)
    return beside_post(round_, round_.draw, likely, len(kept))
