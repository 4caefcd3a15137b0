"""What a scripted model is asked, and what it may do about it. Values only."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Request:
    """One chat completion as it was asked for; `at` is the event loop's clock, in seconds."""

    model: str
    messages: tuple[Mapping[str, object], ...]
    body: Mapping[str, object]
    headers: Mapping[str, str]
    at: float

    @property
    def system(self) -> str:
        """All that was said in the system role."""
        return self._said_by("system")

    @property
    def user(self) -> str:
        """All that was said in the user role."""
        return self._said_by("user")

    def _said_by(self, role: str) -> str:
        return "\n".join(str(m["content"]) for m in self.messages if m["role"] == role)


@dataclass(frozen=True, slots=True)
class Say:
    """A reply. Without `ends` a stream stops short of its finish_reason."""

    text: str
    finish_reason: str = "stop"
    reasoning: str | None = None
    seconds: float | None = None  # before the first byte; None is the server's latency
    drip_seconds: float = 0.0  # between the chunks of a stream
    ends: bool = True


@dataclass(frozen=True, slots=True)
class Fail:
    """An error reply; without a body, one in OpenAI's wording."""

    status: int
    retry_after: float | str | None = None
    body: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Hang:
    """Nothing for so long, then the connection is closed."""

    seconds: float = 3600.0


@dataclass(frozen=True, slots=True)
class Drop:
    """A connection closed in the middle of the reply."""

    text: str = field(default="This reply is never fin")


Outcome = Say | Fail | Hang | Drop
Behaviour = Callable[[Request], Outcome]
