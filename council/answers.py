"""What a member gives to a round: an answer, or an absence with its reason."""

from dataclasses import dataclass
from enum import StrEnum

from council.calls import Prompt, Reply


class Role(StrEnum):
    """What a seat was asked to do."""

    ANSWER = "answer"
    BALLOT = "ballot"
    SYNTHESIS = "synthesis"
    GRADE = "grade"  # in experiments, never in a round


@dataclass(frozen=True, slots=True)
class Answer:
    """One member's reply to the question, as it wrote it.

    `scrubbed` lists what is masked before anybody judges it; `suspicions` what in it tries to
    steer a judge.
    """

    member: str
    prompt: Prompt
    reply: Reply
    scrubbed: tuple[str, ...] = ()
    suspicions: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The answer as the asker reads it."""
        return self.reply.text


# An absence is its own type, so it can never be shown to a judge.
@dataclass(frozen=True, slots=True)
class Absence:
    """A seat with nothing usable in time; `reason` reads on after the seat's name."""

    member: str
    role: Role
    reason: str
