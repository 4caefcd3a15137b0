"""A ballot and a spoiled ballot."""

from dataclasses import dataclass

from council.calls import Prompt, Reply
from council.labels import Label

AUDIT_ATTEMPT = 3  # after the two that may count; it alone tells a spoiled audit ballot
Ranking = tuple[tuple[Label, ...], ...]  # best place first; labels that tie share a place


@dataclass(frozen=True, slots=True)
class Paper:
    """What a judge was handed and what it sent back; `attempt` 2 is the re-ask, 3 an audit."""

    nonce: str
    prompt: Prompt
    reply: Reply
    attempt: int = 1
    cut_to: int | None = None  # tokens that every answer on the slate was cut to, so that it fits


@dataclass(frozen=True, slots=True)
class Ballot:
    """A judge's ranking of the labels it was shown, in public labels."""

    judge: str
    shown: tuple[Label, ...]
    ranking: Ranking
    reason: str = ""
    paper: Paper | None = None
    audit: str | None = None  # the kind of audit; an audit ballot is never counted

    @property
    def counts(self) -> bool:
        """Whether the ballot enters the standings."""
        return self.audit is None


@dataclass(frozen=True, slots=True)
class SpoiledBallot:
    """A reply that does not rank its slate exactly once; kept and shown, never counted."""

    judge: str
    fault: str
    paper: Paper

    @property
    def is_audit(self) -> bool:
        """Whether it was cast for an audit, so that nothing hung on it."""
        return self.paper.attempt == AUDIT_ATTEMPT
