"""Values of one model call (Prompt, Call, Reply) and its outcome (Answer or Absence)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from council.files import QuestionFile
from council.money import sum_or_none
from council.panel import IF_REPEATED, IF_SET, Member


def _sum(*counts: int | None) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def storable_text(text: str) -> str:
    """Return the text without what stores do not accept: NUL, U+FFFF and unpaired surrogates."""
    return text.replace("\0", "").replace("\uffff", "").encode(errors="replace").decode()


class Role(StrEnum):
    """What a seat was asked for."""

    ANSWER = "answer"
    BALLOT = "ballot"
    SYNTHESIS = "synthesis"
    STEP = "step"  # what a method asks besides answers and ballots
    GRADE = "grade"
    FILTER = "filter"


@dataclass(frozen=True, slots=True)
class Prompt:
    """The exact text sent to a model."""

    system: str
    user: str


@dataclass(frozen=True, slots=True)
class Call:
    """A prompt addressed to a member.

    `schema` is the JSON schema of the expected reply; providers that can enforce it do, but the
    reply is always checked. `on_text` receives the text so far while a provider streams it. At
    `deadline`, by the event loop's clock, the call is cancelled as too late. `images` are for
    members that see them. `top_logprobs` asks for so many alternatives to each token; providers
    that return none reply without.
    """

    member: Member
    prompt: Prompt
    temperature: float | None = None
    role: Role = Role.ANSWER
    schema: Mapping[str, object] | None = None
    on_text: Callable[[str], None] | None = None
    deadline: float | None = field(default=None, compare=False)
    images: tuple[QuestionFile, ...] = field(default=(), repr=False)
    top_logprobs: int | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A page that a model's web search found, by title and http address."""

    title: str
    url: str


Scores = tuple[tuple[str, float], ...]  # numbers read from a reply, by what they are of
Logprobs = tuple[tuple[int, Scores], ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's response. Unknown counts and costs are None, never 0.

    `reported_model` is what the provider calls the model that replied, "" if it does not say.
    `logprobs` has each whole number that is a token of its own: the offset in the text, and the
    numbers that could have stood there with their log-probabilities in nats. () if not asked for.
    """

    text: str
    cut: bool = False  # it ended at the model's token limit
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    seconds: float = 0.0
    attempts: int = 1
    sources: tuple[Source, ...] = field(default=(), metadata=IF_SET)
    logprobs: Logprobs = field(default=(), metadata=IF_SET)
    # Only of answers it is kept: see Answer.model.
    reported_model: str = field(default="", compare=False, metadata={"exclude_if": lambda _: True})

    def after(self, earlier: "Reply") -> "Reply":
        """Return this reply with the tokens, cost and time of an earlier one that was not used."""
        return replace(
            self,
            tokens_in=_sum(self.tokens_in, earlier.tokens_in),
            tokens_out=_sum(self.tokens_out, earlier.tokens_out),
            cost_usd=sum_or_none((self.cost_usd, earlier.cost_usd)),
            seconds=self.seconds + earlier.seconds,
            attempts=self.attempts + earlier.attempts,
        )


@dataclass(frozen=True, slots=True)
class Origin:
    """The round that an answer was taken from, and when that was asked."""

    round_id: str
    asked_at: datetime


@dataclass(frozen=True, slots=True)
class Answer:
    """A member's reply; `scrubbed` is masked for judges, `suspicions` try to steer them.

    `scrubbed` is None until both were looked for: a reply is stored before anything else is done
    with it. `missed` is what its model could not take in of the question's files: images, texts.
    `model` is what its provider calls the model. One with an `origin` was used again, and not paid
    for again.
    """

    member: str
    prompt: Prompt
    reply: Reply
    scrubbed: tuple[str, ...] | None = ()
    suspicions: tuple[str, ...] = ()
    missed: tuple[str, ...] = field(default=(), metadata=IF_SET)
    model: str = field(default="", metadata=IF_SET)
    origin: Origin | None = field(default=None, metadata=IF_SET)

    @property
    def text(self) -> str:
        """The answer as the asker reads it."""
        return self.reply.text

    @property
    def is_erased(self) -> bool:
        """Whether it was taken from a round that is forgotten."""
        return self.origin is not None and not self.text


# A separate type, so that an absence can never be shown to a judge.
@dataclass(frozen=True, slots=True)
class Absence:
    """A seat without a usable result in time; `reason` continues a sentence after its name."""

    member: str
    role: Role
    reason: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """A prompt and its reply besides answers and ballots: a critique, a solution, a grade.

    `kind` says which; `seat` was asked, about `subject`: a label, a judge or "". `scores` are the
    numbers read from the reply, by label or criterion; texts stay in the reply. `fault` says why
    nothing could be read, "" if it could; then attempt 2 asks again.
    """

    kind: str
    seat: str
    prompt: Prompt
    reply: Reply
    subject: str = ""
    scores: Scores = ()
    fault: str = ""
    nonce: str = ""
    attempt: int = 1

    @property
    def key(self) -> tuple[str, str, str]:
        """Its kind, seat and subject: the same for both attempts."""
        return self.kind, self.seat, self.subject


@dataclass(frozen=True, slots=True)
class LateReply:
    """A reply that nobody waited for: it was paid for, is kept and never counts."""

    member: str
    role: Role
    prompt: Prompt
    reply: Reply
    pass_number: int = field(default=1, metadata=IF_REPEATED)
