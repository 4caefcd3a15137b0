"""Research services: experiments, weighted leaderboards, and the leaderboard as a prior."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.records import (
    garbage_collection_paused,
    list_past_records,
    update_records,
    update_votes,
)
from bot.bakeoffs.render.leaderboard_tables import Leaderboard
from bot.chat import Post
from bot.context import AppContext
from bot.plugins import RecordSources
from bot.ports import LocalModels
from bot.research.judgments import judgment_lines
from bot.research.weighted_report import prior_post, too_few_rounds_post, weighted_addition
from council.bakeoffs.ports import RecordQuery
from council.bakeoffs.record_arrays import count_repeats, record_columns
from council.bakeoffs.records import PackedRecord, build_record
from council.errors import BakeoffError, GatewayError
from council.research.canary import CANARIES, VERSION
from council.research.filters import PAIRS, stored_history
from council.research.judge_weights import MIN_VOTES, Choice, human_agreement
from council.research.posterior import strength_scores, win_chances
from council.research.weighted_leaderboard import (
    Evidence,
    build_evidence,
    build_weighted_board,
)
from council.rounds import Round
from council.tally.borda import counted_ballots

if TYPE_CHECKING:
    from council.research.perplexity import LlamaServer

MIN_PRIOR_ROUNDS = 10  # before the leaderboard can serve as a prior


async def add_weighted_board(
    sources: RecordSources, wanted: RecordQuery, weights: str, board: Leaderboard
) -> Leaderboard:
    """Return the leaderboard with what the laboratory adds to it; see `WeightedBoards`."""
    cast = await sources.store.votes()
    choices = [Choice(vote.round_id, vote.member) for vote in cast if vote.calibrates]
    if not weights and (len(choices) < MIN_VOTES or not board.judges.rows):
        return board
    await update_votes(sources)
    with garbage_collection_paused():
        rows = await bakeoff_stores(sources).votes.list_recent(wanted)
        records = await bakeoff_stores(sources).records.list_recent(wanted) if weights else ()
        evidence = await asyncio.to_thread(_evidence, board, rows, records, choices)
        return await asyncio.to_thread(_with_additions, board, evidence, weights)


async def research_versions(sources: RecordSources, round_: Round) -> Mapping[str, str]:
    """Return the rule of canaries, and the known history of pairs, for a new round."""
    panel = round_.panel
    canaries = {CANARIES: VERSION} if panel.terms.canary_share else {}
    if not panel.terms.text_checks:
        return canaries
    rows = await list_past_records(sources, round_)
    of_panel = record_columns(row for row in rows if row.panel == panel.name)
    history = await asyncio.to_thread(stored_history, of_panel, panel)
    return canaries | ({PAIRS: history} if history else {})


async def export_judgments(sources: RecordSources, round_id: str) -> str:
    """Return a round's rankings with people's votes and its grades, as JSON Lines."""
    round_ = await sources.store.load(round_id)
    bakeoff = None
    if round_.bakeoff and not round_.forgotten:  # without texts nothing can be graded
        with suppress(BakeoffError):  # it was deleted
            bakeoff = await bakeoff_stores(sources).bakeoffs.load(round_.bakeoff)
    authored = build_record(round_, bakeoff).authored
    correct = {one.member: one.correct for one in authored if one.correct is not None}
    return judgment_lines(round_, await sources.store.votes(round_id), correct)


async def make_prior_post(sources: RecordSources, round_: Round) -> Post:
    """Return a post with a closed round's ranking, given the leaderboard before it as a prior.

    The leaderboard is that of the round's workspace. The result is neither stored nor counted.
    """
    await update_records(sources)
    wanted = RecordQuery(scope=round_.question.place.scope, before=round_.asked_at)
    with garbage_collection_paused():
        records = await bakeoff_stores(sources).records.list_recent(wanted)
        return await asyncio.to_thread(_prior_post, round_, records)


async def open_llama_server(app: AppContext) -> "LlamaServer":
    """Return the server of the local models, started; raise GatewayError without one."""
    from council.research.perplexity import LlamaServer  # httpx is slow to import

    local = app.parts.find(LocalModels)
    if local is None:
        raise GatewayError("There are no local models here.")
    return LlamaServer(*await local.address())


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
