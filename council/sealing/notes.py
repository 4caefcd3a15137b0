"""What is noted of a round as it closes: salted digests of its texts, and of all else by name.

A text's digest is the one that forgetting keeps, so a forgotten round has the same notes.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from council.canonical import canonical, fingerprint
from council.forgetting import digests_of
from council.forgotten import Digests, digest_of
from council.links import Link
from council.rounds import Round
from council.sealing.covered import plain

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
class Notes:
    """A round's salt, and salted digests of its texts and of its other parts, each by its name."""

    salt: str
    texts: Digests
    parts: Digests

    @property
    def digest(self) -> str:
        """The digest of the round: a SHA-256 over these notes as canonical JSON."""
        return fingerprint({"salt": self.salt, "texts": self.texts, "parts": self.parts})


@dataclass(frozen=True, slots=True)
class Seal:
    """What was noted of a round as it closed, and its link; None is a link that is gone."""

    notes: Notes
    link: Link | None


def noted(round_: Round, salt: str) -> Notes:
    """Give what is to be noted of a round; of a forgotten one, the digests it kept of its texts."""
    parts = tuple(
        (name, digest_of(salt, canonical(plain(getattr(round_, field)))))
        for name, field in PARTS.items()
    )
    return Notes(salt, digests_of(round_, salt), parts)
