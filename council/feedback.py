"""Feedback and votes of people on a round, which they reference by id."""

from dataclasses import dataclass, field, replace
from datetime import datetime

from council.panel import IF_SET


@dataclass(frozen=True, slots=True)
class Feedback:
    """Whether a round helped a person, with an optional reason."""

    round_id: str
    by: str
    helpful: bool
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class HumanVote:
    """A person's ballot on a round, which never counts in its standings.

    `label` is the best answer's public label and `member` its author. `ranking` lists places as a
    judge's ballot does, the first of which is `label` alone; an older vote has none. A `blind` vote
    was given before its voter could know who wrote what.
    """

    round_id: str
    by: str
    label: str
    member: str
    at: datetime
    blind: bool = field(default=False, metadata=IF_SET)
    ranking: tuple[tuple[str, ...], ...] = field(default=(), metadata=IF_SET)

    @property
    def is_named(self) -> bool:
        """Return whether a chat knows who voted: a page cannot tell one visitor from several."""
        return not self.by.startswith("web:")

    @property
    def calibrates(self) -> bool:
        """Return whether judges are measured by it: it is blind, and its voter votes once."""
        return self.blind and self.is_named


def settle_vote(
    vote: HumanVote, earlier: HumanVote | None, *, has_result: bool, hides_result: bool
) -> HumanVote:
    """Return what to store of a person's vote, given their earlier one on the same round.

    Any vote before the result is blind. After it, only one whose surface says so is, where the
    result is hidden (in a bake-off, or until a held reveal), and not if the same person has voted
    with it in view. The newest vote counts, but none that is not blind replaces one that is.
    """
    was_blind = earlier is None or earlier.blind
    is_blind = not has_result or (vote.blind and hides_result and was_blind)
    if earlier and (earlier.at > vote.at or (earlier.blind and not is_blind)):
        return earlier
    return replace(vote, blind=is_blind)
