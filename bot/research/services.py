"""Research services: weighted leaderboards and priors, which bootstrap plugs into the core."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.bakeoffs.records import garbage_collection_paused, update_records, update_votes
from bot.bakeoffs.render.leaderboard_tables import Leaderboard
from bot.chat import Post
from bot.context import AppContext
from bot.ports import RecordSources
from bot.research.judgments import judgment_lines
from bot.research.weighted_report import prior_post, too_few_rounds_post, weighted_addition
from council.bakeoffs.ports import RecordQuery
from council.bakeoffs.record_arrays import record_columns
from council.bakeoffs.records import PackedRecord, build_record
from council.errors import BakeoffError, GatewayError
from council.methods import method_of
from council.research.experiment import ExperimentStore
from council.research.filters import PAIRS, stored_history
from council.research.judge_weights import (
    MIN_REPEATS,
    MIN_VOTES,
    Choice,
    consistency_weights,
    count_repeats,
    human_agreement,
)
from council.research.posterior import strength_scores, win_chances
from council.research.weighted_leaderboard import (
    Evidence,
    build_evidence,
    build_weighted_board,
)
from council.round_rules import CONSISTENCY
from council.rounds import Round
from council.tally.standings import counted_ballots

if TYPE_CHECKING:
    from council.research.perplexity import LlamaServer

MAX_PAST_ROUNDS = 5_000  # the newest of a workspace, which tell of its judges and authors
WEIGHT_DIGITS = 4  # of a stored weight
MIN_PRIOR_ROUNDS = 10  # before the leaderboard can serve as a prior


@dataclass(frozen=True, slots=True)
class ResearchServices:
    """Weighted leaderboards, the leaderboard as a prior, and the store of experiments.

    `local_server` returns the address and key of the local models' server, started if need be.
    """

    experiments: ExperimentStore
    local_server: Callable[[], Awaitable[tuple[str, str]]] | None = None

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
            records = await sources.bakeoff_stores.records.list_recent(wanted) if weights else ()
            evidence = await asyncio.to_thread(_evidence, board, rows, records, choices)
            return await asyncio.to_thread(_with_additions, board, evidence, weights)

    async def opening_versions(self, sources: RecordSources, round_: Round) -> Mapping[str, str]:
        """Return a new round's weights by consistency and the history of its pairs, if known.

        Both are of the newest rounds of its workspace.
        """
        scope, newest = round_.question.place.scope, MAX_PAST_ROUNDS
        wanted = RecordQuery(scope=scope, before=round_.asked_at, newest=newest)
        rows = await sources.bakeoff_stores.records.list_recent(wanted)
        return await asyncio.to_thread(_opening_versions, round_, rows)

    async def export_judgments(self, sources: RecordSources, round_id: str) -> str:
        """Return a round's rankings with people's votes and its grades, as JSON Lines."""
        round_ = await sources.store.load(round_id)
        bakeoff = None
        if round_.bakeoff and not round_.forgotten:  # without texts nothing can be graded
            with suppress(BakeoffError):  # it was deleted
                bakeoff = await sources.bakeoff_stores.bakeoffs.load(round_.bakeoff)
        authored = build_record(round_, bakeoff).authored
        correct = {one.member: one.correct for one in authored if one.correct is not None}
        return judgment_lines(round_, await sources.store.votes(round_id), correct)

    async def make_prior_post(self, sources: RecordSources, round_: Round) -> Post:
        """Return a post with a closed round's ranking, given the leaderboard before it as a prior.

        The leaderboard is that of the round's workspace. The result is neither stored nor counted.
        """
        await update_records(sources)
        wanted = RecordQuery(scope=round_.question.place.scope, before=round_.asked_at)
        with garbage_collection_paused():
            records = await sources.bakeoff_stores.records.list_recent(wanted)
            return await asyncio.to_thread(_prior_post, round_, records)


def _opening_versions(round_: Round, rows: Sequence[PackedRecord]) -> Mapping[str, str]:
    panel, entries, known = round_.panel, {}, count_repeats(record_columns(rows))
    judges = [seat.key for seat in method_of(round_).judges(panel)]
    repeats = {judge: known[judge] for judge in judges if judge in known}
    # Weights serve once every judge has been asked twenty times again.
    if judges and sum(one.ballots >= MIN_REPEATS for one in repeats.values()) == len(judges):
        weights = consistency_weights(repeats).weights
        digits = {judge: round(weight, WEIGHT_DIGITS) for judge, weight in weights.items()}
        entries[CONSISTENCY] = json.dumps(digits)
    if panel.terms.text_checks:
        own = record_columns(row for row in rows if row.panel == panel.name)
        if history := stored_history(own, panel):
            entries[PAIRS] = history
    return entries


def research_services(app: AppContext) -> ResearchServices:
    """Return the research services of an application that bootstrap made."""
    if not isinstance(app.research, ResearchServices):
        raise TypeError("The application has no research services.")
    return app.research


def experiment_store(app: AppContext) -> ExperimentStore:
    """Return the store of experiments of an application that bootstrap made."""
    return research_services(app).experiments


async def open_llama_server(app: AppContext) -> "LlamaServer":
    """Return the server of the local models, started; raise GatewayError without one."""
    from council.research.perplexity import LlamaServer  # httpx is slow to import

    local_server = research_services(app).local_server
    if local_server is None:
        raise GatewayError("There are no local models here.")
    return LlamaServer(*await local_server())


def _evidence(
    board: Leaderboard,
    votes: Sequence[PackedRecord],
    records: Sequence[PackedRecord],
    choices: Sequence[Choice],
) -> Evidence:
    coverage = board.coverage
    ballots, numbers = (
        [row for row in rows if not coverage.suite or row.suite_version == coverage.version]
        for rows in (votes, records)
    )
    return build_evidence(ballots, choices, count_repeats(record_columns(numbers)))


def _with_additions(board: Leaderboard, evidence: Evidence, weights: str) -> Leaderboard:
    people = dict(human_agreement(evidence.rounds, evidence.choices))
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
