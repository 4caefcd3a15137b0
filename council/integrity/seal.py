"""Seal of a closed round: its salted digests and its link; it shows later changes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import UTC, datetime

from council.answers import Prompt, Reply, Source
from council.ballots import Ballot
from council.digests import Digests, canonical_json, json_digest, salted_digest
from council.files import QuestionFile
from council.integrity.erasure import decision_digests, decision_name, text_digests
from council.integrity.hash_chain import LINK_VERSION, Link
from council.panel import IF_SET
from council.rounds import Choice, Question, Round, Synthesis
from council.tally import Flag

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
    "exchanges, beside their texts": "exchanges",
}

# Texts have separate digests, so that they can be erased; see council.integrity.erasure. Every
# other field enters the digest of its part.
TEXT_FIELDS: Mapping[type, tuple[str, ...]] = {
    Question: ("text", "context", "reference", "rubric", "instructions", "answer_schema"),
    Prompt: ("system", "user"),
    QuestionFile: ("name", "text", "data"),
    Reply: ("text", "logprobs"),
    Source: ("title", "url"),
    Ballot: ("reason",),
    Synthesis: ("text", "why"),
    Choice: ("point", "says"),
}
# What can be wrong besides a changed text or part.
LINK_IS_GONE = "its link in the chain is missing"
OTHER_VERSION = (
    "its link was made by another version of the program, and only that version can check it"
)
OTHER_ROUND = "its link belongs to another round"
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
class DecisionSeal:
    """The digests that a decision had when it was made, and its link in the round's chain."""

    digests: Digests
    link: Link


@dataclass(frozen=True, slots=True)
class Seal:
    """The digests a round had when it closed, and its link; None if the link was deleted.

    `decisions` are the seals of the decisions that came later, in their order.
    """

    notes: RoundDigests
    link: Link | None
    decisions: tuple[DecisionSeal, ...] = field(default=(), metadata=IF_SET)


def compute_digests(round_: Round, salt: str) -> RoundDigests:
    """Return a round's digests; for erased texts, the digests stored at their erasure."""
    parts = tuple(
        (name, salted_digest(salt, canonical_json(plain_json(getattr(round_, field)))))
        for name, field in PARTS.items()
        if field != "exchanges" or round_.exchanges  # older rounds have no such part
    )
    return RoundDigests(salt, text_digests(round_, salt), parts)


def seal_decision(round_: Round, number: int, salt: str, noted: Digests = ()) -> RoundDigests:
    """Return the digests of a round's decision; of erased texts, those that were `noted` of it."""
    decision = round_.decisions[number - 1]
    name = f"{decision_name(number)}, beside its texts"
    beside = salted_digest(salt, canonical_json(plain_json(decision)))
    digests = {name: beside, **dict(decision_digests(round_, number, salt))}
    erased = [pair for pair in noted if pair[0] not in digests] if round_.forgotten else []
    return RoundDigests(salt, (), (*digests.items(), *erased))


def find_changes(round_: Round, seal: Seal) -> tuple[str, ...]:
    """Return the names of what was changed since the round closed, or a decision was made.

    Erased texts are no change.
    """
    return (*_find_round_changes(round_, seal), *_find_decision_changes(round_, seal))


def _find_decision_changes(round_: Round, seal: Seal) -> Iterator[str]:
    for number in range(1, max(len(round_.decisions), len(seal.decisions)) + 1):
        name = decision_name(number)
        if number > len(seal.decisions):
            yield f"{name}: {LINK_IS_GONE}"
            continue
        one = seal.decisions[number - 1]
        if one.link.version != LINK_VERSION:
            yield f"{name}: {OTHER_VERSION}"
            continue
        noted = RoundDigests(seal.notes.salt, (), one.digests)
        if not one.link.is_sound or one.link.round_id != round_.id:
            yield f"{name}: {LINK_WAS_CHANGED}"
        elif noted.digest != one.link.digest:
            yield f"{name}: {DIGESTS_WERE_CHANGED}"
        elif number > len(round_.decisions):
            yield f"{name} is missing"
        else:
            now = seal_decision(round_, number, seal.notes.salt, one.digests)
            yield from _differing_names(_sorted(one.digests), _sorted(now.parts))


def _sorted(digests: Digests) -> Digests:
    return tuple(sorted(digests))


def _find_round_changes(round_: Round, seal: Seal) -> tuple[str, ...]:
    if seal.link is None:
        return (LINK_IS_GONE,)
    if seal.link.version != LINK_VERSION:
        return (OTHER_VERSION,)
    changes = [] if seal.link.round_id == round_.id else [OTHER_ROUND]
    if not seal.link.is_sound:
        changes.append(LINK_WAS_CHANGED)
    notes, salt = seal.notes, seal.notes.salt
    erased = round_.forgotten or round_.redacted
    if (erased and erased.salt != salt) or notes.digest != seal.link.digest:
        return (*changes, DIGESTS_WERE_CHANGED)
    now = compute_digests(round_, salt)
    texts = _differing_names(notes.texts, now.texts)
    return (*changes, *texts, *_differing_names(notes.parts, now.parts))


def _differing_names(then: Digests, now: Digests) -> tuple[str, ...]:
    if then == now:
        return ()
    before, after = dict(then), dict(now)
    names = tuple(name for name in before | after if before.get(name) != after.get(name))
    return names or (ORDER_WAS_CHANGED,)


def plain_json(value: object) -> object:
    """Return a value as plain JSON without its texts.

    Times are in UTC, whole floats integers, and flags the sentences that rounds store.
    """
    if isinstance(value, Flag):
        return str(value)
    if is_dataclass(value):
        texts = TEXT_FIELDS.get(type(value), ())
        pairs = ((field, getattr(value, field.name)) for field in fields(value))
        return {
            field.name: plain_json(one)
            for field, one in pairs
            if field.name not in texts
            and not field.metadata.get("exclude_if", lambda _: False)(one)
        }
    if isinstance(value, tuple):
        return [plain_json(item) for item in value]
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
