"""Seal of a closed round: salted digests of its texts and parts, and its link in the hash chain.

Comparing a round with its seal shows what was changed since it closed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from typing import Any

from council.answers import Absence, Answer, Prompt, Reply
from council.ballots import Ballot, BallotExchange, SpoiledBallot
from council.digests import Digests, canonical_json, json_digest, salted_digest
from council.integrity.erasure import text_digests
from council.integrity.hash_chain import LINK_VERSION, Link
from council.labels import LabelMap, Slate
from council.panel import IF_SET, Member, Panel, Rubric, Terms, is_unset
from council.places import Place
from council.rounds import Closing, Draw, Question, Round, Synthesis
from council.tally import Standing, Tally, Verdict
from council.tally.agreement import Agreement

# The parts of a round: their names in reports, and the fields they stand for.
PARTS: Mapping[str, str] = {
    "asker and place": "question",
    "panel": "panel",
    "seed": "seed",
    "moment asked": "asked_at",
    "versions": "versions",
    "answers, beside their texts": "answers",
    "absences": "absences",
    "label map and slates": "draw",
    "ballots, beside their texts": "ballots",
    "spoiled ballots, beside their texts": "spoiled",
    "standings and verdict": "tally",
    "synthesis, beside its texts": "synthesis",
    "closing": "closing",
    "bake-off": "bakeoff",
}

# The fields that enter the digest of a part, by type. Texts have separate digests, so that they
# can be erased; see council.integrity.erasure.
COVERED_FIELDS: Mapping[type, tuple[str, ...]] = {
    Question: ("asked_by", "place"),
    Place: ("chat", "workspace", "channel", "thread", "private"),
    Panel: ("name", "members", "rubric", "outside_judges", "chairmen", "terms"),
    Member: (
        *("key", "model_id", "display", "family"),
        *("temperature", "receiver", "demonstration"),
    ),
    Rubric: ("name", "version", "criteria"),
    Terms: (
        *("method", "quorum", "audit_share", "max_round_usd"),
        *("answer_seconds", "ballot_seconds", "synthesis_seconds", "round_seconds"),
        *("answer_temperature", "ballot_temperature", "synthesis_temperature"),
    ),
    Answer: ("member", "prompt", "reply", "scrubbed", "suspicions"),
    Prompt: (),
    Reply: ("cut", "tokens_in", "tokens_out", "cost_usd", "seconds", "attempts"),
    Absence: ("member", "role", "reason"),
    Draw: ("labels", "slates"),
    LabelMap: ("pairs",),
    Slate: ("judge", "shown"),
    Ballot: ("judge", "shown", "ranking", "paper", "audit"),
    BallotExchange: ("nonce", "prompt", "reply", "attempt", "cut_to"),
    SpoiledBallot: ("judge", "fault", "paper"),
    Tally: ("standings", "verdict"),
    Standing: (
        *("label", "place", "share", "points"),
        *("max_points", "first_votes", "mean_rank"),
    ),
    Verdict: ("strength", "p", "first_on", "too_few_judges", "agreement", "n_eff", "flags"),
    Agreement: ("tau_b", "kendall_w", "alpha"),
    Synthesis: ("chairman", "fallback", "drawn_on", "departs", "prompt", "reply"),
    Closing: ("seconds", "failure"),
}
# What can be wrong besides a changed text or part.
LINK_IS_GONE = "its link in the chain is gone"
OTHER_VERSION = "its link was made by another version of the program, which alone can check it"
OTHER_ROUND = "its link is that of another round"
LINK_WAS_CHANGED = "its link was changed"
DIGESTS_WERE_CHANGED = "the salt or the digests that were noted of it were changed"
ORDER_WAS_CHANGED = "the order of what was noted of it"


@dataclass(frozen=True, slots=True)
class RoundDigests:
    """A round's salt, and the salted digests of its texts and of its other parts, by name."""

    salt: str
    texts: Digests
    parts: Digests

    @property
    def digest(self) -> str:
        """The digest of the round: SHA-256 of these digests as canonical JSON."""
        return json_digest({"salt": self.salt, "texts": self.texts, "parts": self.parts})


@dataclass(frozen=True, slots=True)
class Seal:
    """The digests a round had when it closed, and its link; None if the link was deleted."""

    notes: RoundDigests
    link: Link | None


def compute_digests(round_: Round, salt: str) -> RoundDigests:
    """Return a round's digests; for erased texts, the digests stored at their erasure."""
    parts = tuple(
        (name, salted_digest(salt, canonical_json(plain_json(getattr(round_, field)))))
        for name, field in PARTS.items()
    )
    return RoundDigests(salt, text_digests(round_, salt), parts)


def find_changes(round_: Round, seal: Seal) -> tuple[str, ...]:
    """Return the names of what was changed since the round closed; empty if nothing was.

    Erased texts are no change. If the digests themselves were changed, only that is reported.
    """
    if seal.link is None:
        return (LINK_IS_GONE,)
    if seal.link.version != LINK_VERSION:
        return (OTHER_VERSION,)
    return (*_link_changes(round_, seal.link), *_round_changes(round_, seal, seal.link.digest))


def _link_changes(round_: Round, link: Link) -> tuple[str, ...]:
    found = () if link.round_id == round_.id else (OTHER_ROUND,)
    return found if link.is_sound else (*found, LINK_WAS_CHANGED)


def _round_changes(round_: Round, seal: Seal, digest: str) -> tuple[str, ...]:
    salt = round_.forgotten.salt if round_.forgotten else seal.notes.salt
    if salt != seal.notes.salt or seal.notes.digest != digest:
        return (DIGESTS_WERE_CHANGED,)
    now = compute_digests(round_, salt)
    texts = _differing_names(seal.notes.texts, now.texts)
    return (*texts, *_differing_names(seal.notes.parts, now.parts))


def _differing_names(then: Digests, now: Digests) -> tuple[str, ...]:
    """Return the names whose digest was changed, added or removed."""
    if then == now:
        return ()
    before, after = dict(then), dict(now)
    names = tuple(name for name in before | after if before.get(name) != after.get(name))
    return names or (ORDER_WAS_CHANGED,)


def plain_json(value: object) -> object:
    """Return a value of a round as plain JSON types, without its texts; times in UTC.

    Whole floats become integers, since a database may return either.
    """
    if is_dataclass(value):
        return {name: plain_json(getattr(value, name)) for name in _covered_fields(value)}
    if isinstance(value, tuple):
        return [plain_json(item) for item in value]
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _covered_fields(value: Any) -> Iterator[str]:  # noqa: ANN401 - any dataclass of a round
    optional = {field.name for field in fields(value) if field.metadata == IF_SET}
    for name in COVERED_FIELDS[type(value)]:
        if name not in optional or not is_unset(getattr(value, name)):
            yield name
