"""One call of a model: what is sent and what comes back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from council.panel import Member

# --- One call of a model: what is sent and what comes back.


@dataclass(frozen=True, slots=True)
class Prompt:
    """The exact text sent to a model."""

    system: str
    user: str


@dataclass(frozen=True, slots=True)
class Call:
    """A prompt on its way to a member.

    `schema` is the JSON schema the reply should follow, asked for where the provider can enforce
    one and never trusted; `on_text` is told the text so far while it is written, where the
    provider streams.
    """

    member: Member
    prompt: Prompt
    temperature: float | None = None
    schema: Mapping[str, object] | None = None
    on_text: Callable[[str], None] | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model sent back. Unknown counts and costs are None, never 0."""

    text: str
    cut: bool = False  # it ended at the model's token limit
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    seconds: float = 0.0
    attempts: int = 1


# --- What a member gives to a round: an answer, or an absence with its reason.


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
