"""Research services: weighted leaderboards and priors, which bootstrap plugs into the core."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.bakeoffs.records import garbage_collection_paused, update_records, update_votes
from bot.chat import Post
from bot.context import AppContext
from bot.ports import RecordSources
from bot.render.leaderboard_tables import Leaderboard
from bot.research.weighted_report import prior_post, too_few_rounds_post, weighted_addition
from council.bakeoffs.ports import RecordQuery
from council.bakeoffs.record_arrays import record_columns
from council.bakeoffs.records import PackedRecord
from council.research.experiment import ExperimentStore
from council.research.judge_weights import MIN_VOTES, Choice, human_agreement
from council.research.posterior import strength_scores, win_chances
from council.research.weighted_leaderboard import build_evidence, build_weighted_board
from council.rounds import Round
from council.tally.standings import counted_ballots

MIN_PRIOR_ROUNDS = 10  # before the leaderboard can serve as a prior


@dataclass(frozen=True, slots=True)
class ResearchServices:
    """Weighted leaderboards, the leaderboard as a prior, and the store of experiments."""

    experiments: ExperimentStore

    async def add_to_leaderboard(
        self, sources: RecordSources, wanted: RecordQuery, weights: str, board: Leaderboard
    ) -> Leaderboard:
        """Return the leaderboard with its additions, if any; the official standings do not change.

        These are the leaderboard by weighted judges, and, from twenty blind votes of people on, how
        far judges agree with them.
        """
        cast = await sources.store.votes()
        choices = [Choice(vote.round_id, vote.member) for vote in cast if vote.blind]
        if not weights and (len(choices) < MIN_VOTES or not board.judges.rows):
            return board
        await update_votes(sources)
        with garbage_collection_paused():
            rows = await sources.bakeoff_stores.votes.list_recent(wanted)
            return await asyncio.to_thread(_with_additions, board, rows, weights, choices)

    async def make_prior_post(self, sources: RecordSources, round_: Round) -> Post:
        """Return a post with a closed round's ranking, given the leaderboard before it as a prior.

        The leaderboard is that of the round's workspace. The result is neither stored nor counted.
        """
        await update_records(sources)
        wanted = RecordQuery(scope=round_.question.place.scope, before=round_.asked_at)
        with garbage_collection_paused():
            records = await sources.bakeoff_stores.records.list_recent(wanted)
            return await asyncio.to_thread(_prior_post, round_, records)


def experiment_store(app: AppContext) -> ExperimentStore:
    """Return the store of experiments of an application that bootstrap made."""
    if not isinstance(app.research, ResearchServices):
        raise TypeError("The application has no research services.")
    return app.research.experiments


def _with_additions(
    board: Leaderboard, rows: Sequence[PackedRecord], weights: str, choices: Sequence[Choice]
) -> Leaderboard:
    coverage = board.coverage
    counted = [row for row in rows if not coverage.suite or row.suite_version == coverage.version]
    evidence = build_evidence(counted, choices)
    people = dict(human_agreement(evidence.rounds, choices))
    if not weights:
        return replace(board, people=people)
    weighted = build_weighted_board(weights, evidence)
    return replace(board, people=people, weighted=weighted_addition(board, weighted))


def _prior_post(round_: Round, records: Sequence[PackedRecord]) -> Post:
    ballots = counted_ballots(round_.ballots) if round_.tally else ()
    if len(records) < MIN_PRIOR_ROUNDS or not round_.draw or not ballots:
        return too_few_rounds_post(round_, len(records), MIN_PRIOR_ROUNDS)
    strengths = strength_scores(record_columns(records))
    likely = win_chances(round_.draw.labels, ballots, strengths, round_.seed)
    return prior_post(round_, round_.draw, likely, len(records))
