"""What whoever carries a round says of it to other processes; the round itself they read."""

import json
from dataclasses import dataclass

from bot.cluster.doing import Fault
from bot.ports import RoundStoppedError, Sight
from council import errors
from council.errors import CouncilError
from council.rounds import Round

MOST_LETTERS = 8_000  # of a draft; how a longer one goes on is not told


class RoundFailedError(CouncilError):
    """A round came to no end in another process."""


@dataclass(frozen=True, slots=True)
class Word:
    """How many parts a round has, for how long it is carried, and how far its end is written.

    Without a draft, that is as it was before.
    """

    parts: int
    seconds: float
    draft: str | None

    def written(self) -> str:
        """Give it as it goes over the bus."""
        return json.dumps({"parts": self.parts, "seconds": self.seconds, "draft": self.draft})


def word_of(sight: Sight) -> Word:
    """Give what is to be said of a sight."""
    draft = sight.draft if len(sight.draft) <= MOST_LETTERS else None
    return Word(parts_of(sight.round_), round(sight.seconds, 3), draft)


def read(text: str) -> Word | None:
    """Give the word that was said; None for what tells whoever hears it to look for himself."""
    try:
        said = json.loads(text)
        draft = said.get("draft")
        return Word(
            int(said["parts"]), float(said["seconds"]), None if draft is None else str(draft)
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def parts_of(round_: Round) -> int:
    """Count what a round has come to."""
    many = (round_.answers, round_.absences, round_.ballots, round_.spoiled)
    single = (round_.draw, round_.tally, round_.synthesis, round_.closing)
    return sum(map(len, many)) + sum(part is not None for part in single)


def fault_of(fault: Fault | None, round_id: str) -> CouncilError:
    """Give what kept a round from its end, as the error it was where that is known."""
    if not fault:
        return RoundStoppedError(f"Round {round_id} was stopped before its end.")
    kind = getattr(errors, fault.get("kind") or "", None)
    if isinstance(kind, type) and issubclass(kind, CouncilError):
        return kind(fault.get("why", ""))
    return RoundFailedError(fault.get("why", ""))
