"""Which fields of a round its digest rests on, beside its texts."""

from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from datetime import UTC, datetime

from council.answers import Absence, Answer, Prompt, Reply
from council.ballots import Ballot, BallotExchange, SpoiledBallot
from council.digests import Digests, canonical_json, json_digest, salted_digest
from council.integrity.erasure import text_digests
from council.integrity.hash_chain import LINK_VERSION, Link
from council.labels import LabelMap, Slate
from council.panel import Member, Panel, Rubric, Terms
from council.places import Place
from council.rounds import Closing, Draw, Question, Round, Synthesis
from council.tally import Standing, Tally, Verdict
from council.tally.agreement import Agreement

# --- Which fields of a round its digest rests on, beside its texts.

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
# The texts, which enter as digests of their own; see council.forgetting.
TEXT_FIELDS: Mapping[type, tuple[str, ...]] = {
    Question: ("text", "context", "reference"),
    Prompt: ("system", "user"),
    Reply: ("text",),
    Ballot: ("reason",),
    Synthesis: ("text", "why"),
}


def plain_json(value: object) -> object:
    """Give a value of a round without its texts, as what JSON knows; moments in UTC.

    Whole numbers are the same whether they were kept as such or not.
    """
    if is_dataclass(value):
        return {name: plain_json(getattr(value, name)) for name in COVERED_FIELDS[type(value)]}
    if isinstance(value, tuple):
        return [plain_json(item) for item in value]
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


# --- What is noted of a round as it closes: salted digests of its texts, and of all else by name.

# Names as people read them, and the fields of a round they stand for.
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


@dataclass(frozen=True, slots=True)
class RoundDigests:
    """A round's salt, and salted digests of its texts and of its other parts, each by its name."""

    salt: str
    texts: Digests
    parts: Digests

    @property
    def digest(self) -> str:
        """The digest of the round: a SHA-256 over these notes as canonical JSON."""
        return json_digest({"salt": self.salt, "texts": self.texts, "parts": self.parts})


@dataclass(frozen=True, slots=True)
class Seal:
    """What was noted of a round as it closed, and its link; None is a link that is gone."""

    notes: RoundDigests
    link: Link | None


def noted(round_: Round, salt: str) -> RoundDigests:
    """Give what is to be noted of a round; of a forgotten one, the digests it kept of its texts."""
    parts = tuple(
        (name, salted_digest(salt, canonical_json(plain_json(getattr(round_, field)))))
        for name, field in PARTS.items()
    )
    return RoundDigests(salt, text_digests(round_, salt), parts)


# --- What of a closed round is not as it was when it joined its chain.

LINK_IS_GONE = "its link in the chain is gone"
OTHER_VERSION = "its link was made by another version of the program, which alone can check it"
OTHER_ROUND = "its link is that of another round"
LINK_WAS_CHANGED = "its link was changed"
DIGESTS_WERE_CHANGED = "the salt or the digests that were noted of it were changed"
ORDER_WAS_CHANGED = "the order of what was noted of it"


def changes(round_: Round, seal: Seal) -> tuple[str, ...]:
    """Name what was changed since the round closed; nothing where it is as it was.

    Texts that were forgotten are no change. Where the notes themselves were changed, no more can
    be told of the round.
    """
    if seal.link is None:
        return (LINK_IS_GONE,)
    if seal.link.version != LINK_VERSION:
        return (OTHER_VERSION,)
    return (*_of_link(round_, seal.link), *_of_round(round_, seal, seal.link.digest))


def _of_link(round_: Round, link: Link) -> tuple[str, ...]:
    another = () if link.round_id == round_.id else (OTHER_ROUND,)
    return another if link.is_sound else (*another, LINK_WAS_CHANGED)


def _of_round(round_: Round, seal: Seal, digest: str) -> tuple[str, ...]:
    salt = round_.forgotten.salt if round_.forgotten else seal.notes.salt
    if salt != seal.notes.salt or seal.notes.digest != digest:
        return (DIGESTS_WERE_CHANGED,)
    now = noted(round_, salt)
    texts, parts = _differing(seal.notes.texts, now.texts), _differing(seal.notes.parts, now.parts)
    return (*texts, *parts)


def _differing(then: Digests, now: Digests) -> tuple[str, ...]:
    """Name what has another digest, or none, or had none."""
    if then == now:
        return ()
    before, after = dict(then), dict(now)
    names = tuple(name for name in before | after if before.get(name) != after.get(name))
    return names or (ORDER_WAS_CHANGED,)
