"""Builders of votes from text: "b c=d" ranks b first, then c and d as a tie."""

from dataclasses import replace
from typing import Any

from council.bakeoffs.bias.vote_arrays import Block, pack_votes, vote_blocks
from council.bakeoffs.bias.votes import AuditVote, Vote, Votes
from council.bakeoffs.records import PackedRecord
from tests.builders import ASKED_AT

MAKERS = ("anthropic", "openai", "google", "deepseek")
PLAIN = (0, 0, 0, 0)
RECORD = PackedRecord("r1", ASKED_AT, "house", "", "", 0, "", "", "", "[]", b"", 1)


def a_vote(judge: str, ranking: str, shown: str = "") -> Vote:
    """Return a vote; by default its answers were shown in order of their names."""
    ranks: dict[str, float] = {}
    above = 0
    for place in ranking.split():
        tied = place.split("=")
        ranks |= dict.fromkeys(tied, above + (len(tied) + 1) / 2)
        above += len(tied)
    order = tuple(shown.split()) or tuple(sorted(ranks))
    return Vote(judge, order, tuple(ranks[author] for author in order))


def an_audit(kind: str, vote: Vote, usd: float | None = 0.5) -> AuditVote:
    return AuditVote(vote.judge, kind, vote, usd)


def votes(*ballots: Vote, audit: AuditVote | None = None, **fields: Any) -> Votes:  # noqa: ANN401
    """Return a round of four members, a to d, each of another maker; `fields` override that."""
    own = Votes(tuple("abcd"), MAKERS, 4, ballots, audit)
    seated = replace(own, **fields)
    return replace(seated, spoiled=tuple((judge, 0) for judge in seated.judges))


def blocks_of(*rounds: Votes) -> tuple[Block, ...]:
    return vote_blocks([pack_votes(one, RECORD) for one in rounds])
