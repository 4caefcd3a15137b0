"""Fake gateway that follows a script and records its calls, and fake stores that fail or lag."""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from council.answers import Call, Prompt, Reply, Role
from council.errors import GatewayError
from council.money import FREE, Price
from council.panel import Member
from council.randomness import digest
from council.rounds import Artefact, Round
from tests.builders import ballot_text
from tests.fakes.memory_store import MemoryStore

_FENCE = re.compile(
    r'^<response label="([A-Z])" nonce="([0-9a-f]{16})">\n(.*?)\n</response nonce="\2">$',
    re.MULTILINE | re.DOTALL,
)
_NONCE = re.compile(r"^Nonce: (\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ReadPrompt:
    """A prompt as a model reads it: each fenced text by letter, and the nonce lines."""

    texts: Mapping[str, str]
    nonces: tuple[str, ...]

    @property
    def role(self) -> Role:
        """The requested role: a ballot prompt has a nonce, a synthesis prompt only texts."""
        if self.nonces:
            return Role.BALLOT
        return Role.SYNTHESIS if self.texts else Role.ANSWER

    def ballot(self, ranking: str, reason: str = "It is right.") -> str:
        """Return a ballot with the right nonce; an empty ranking is the order shown."""
        return ballot_text(ranking or " ".join(self.texts), self.nonces[0], reason)


def read_prompt(prompt: Prompt) -> ReadPrompt:
    """Read a prompt as a model would."""
    texts = {letter: text for letter, _, text in _FENCE.findall(prompt.user)}
    return ReadPrompt(texts, tuple(_NONCE.findall(prompt.user)))


class Hangs:
    """Never replies."""


@dataclass(frozen=True, slots=True)
class Late:
    """Replies after every seat that is not late; `first_word` is streamed at once."""

    text: str
    seconds: float = 0.0
    first_word: str = ""


@dataclass(frozen=True, slots=True)
class Held:
    """Replies once the gateway is released."""

    text: str


Words = str | Reply | GatewayError | TimeoutError | Hangs | Late | Held
ScriptEntry = Words | Callable[[ReadPrompt], str]
Script = Mapping[
    str, ScriptEntry | Sequence[ScriptEntry]
]  # by seat key; a list is one entry a call


def rank_by_text(shown: ReadPrompt) -> str:
    """Rank the texts alphabetically, so that all judges agree."""
    return shown.ballot(" ".join(sorted(shown.texts, key=lambda letter: shown.texts[letter])))


def rank_by_slot(shown: ReadPrompt) -> str:
    """Rank in the order shown, whatever the texts say."""
    return shown.ballot(" ".join(shown.texts))


def rank_by_slot_reversed(shown: ReadPrompt) -> str:
    """Rank the last shown first, whatever the texts say."""
    return shown.ballot(" ".join(reversed(tuple(shown.texts))))


def an_answer_of(key: str) -> str:
    """Return the answer of a seat without a script: distinct, without its name."""
    return f"Answer {digest('fake', 'answer', key)[:8]}."


@dataclass(eq=False)
class FakeGateway:
    """Replies by script; a seat without one answers, ranks by text and writes a synthesis.

    `exchange` replies to what a method asks besides.
    """

    answers: Script = field(default_factory=dict)
    judges: Script = field(default_factory=dict)
    chairmen: Script = field(default_factory=dict)
    contexts: Mapping[str, int] = field(default_factory=dict)
    prices: Mapping[str, Price | None] = field(default_factory=dict)
    seeing: Collection[str] = ()
    vote: Callable[[ReadPrompt], str] = rank_by_text
    exchange: Callable[[Call], Words] = lambda _: "I agree."
    asked: list[Call] = field(default_factory=list)
    released: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def versions(self) -> dict[str, str]:
        return {"fake": "1"}

    def context_tokens(self, member_key: str) -> int | None:
        return self.contexts.get(member_key)

    async def price(self, seat: Member) -> Price | None:
        return self.prices.get(seat.key, FREE)

    async def sees_images(self, seat: Member) -> bool:
        return seat.key in self.seeing

    async def complete(self, call: Call) -> Reply:
        self.asked.append(call)
        shown = read_prompt(call.prompt)
        is_exchange = call.role is Role.STEP
        entry = self.exchange(call) if is_exchange else self._entry(call.member.key, shown)
        words = entry(shown) if callable(entry) else entry
        if isinstance(words, (GatewayError, TimeoutError)):
            raise words
        if isinstance(words, Hangs):
            await asyncio.Event().wait()
        if isinstance(words, Held):
            await self.released.wait()
            words = words.text
        if isinstance(words, Late):
            if call.on_text and words.first_word:
                call.on_text(words.first_word)
            await asyncio.sleep(words.seconds)
            words = words.text
        return words if isinstance(words, Reply) else Reply(str(words))

    def of(self, role: Role, key: str | None = None) -> list[Call]:
        """Return the calls for a role in order, optionally of one seat."""
        calls = [call for call in self.asked if _role(call) is role]
        return [call for call in calls if key in (None, call.member.key)]

    def times_asked(self) -> Counter[tuple[str, Role]]:
        """Return the number of calls of each seat in each role."""
        return Counter((call.member.key, _role(call)) for call in self.asked)

    def _entry(self, key: str, shown: ReadPrompt) -> ScriptEntry:
        role = shown.role
        scripts: dict[Role, tuple[Script, ScriptEntry]] = {
            Role.ANSWER: (self.answers, an_answer_of(key)),
            Role.BALLOT: (self.judges, self.vote),
            Role.SYNTHESIS: (self.chairmen, "The council says yes."),
        }
        script, default = scripts[role]
        entry = script.get(key, default)
        if isinstance(entry, str) or not isinstance(entry, Sequence):
            return entry
        return entry[min(self.times_asked()[key, role], len(entry)) - 1]


def _role(call: Call) -> Role:
    is_exchange = call.role is Role.STEP
    return call.role if is_exchange else read_prompt(call.prompt).role


class PowerCutError(Exception):
    """The simulated end of the process."""


class FailingStore(MemoryStore):
    """A memory store that fails as if the power was cut after so many saves."""

    def __init__(self, saves: int) -> None:
        super().__init__()
        self.left = saves
        self.saved: list[Artefact] = []

    async def save(self, round_id: str, *artefacts: Artefact) -> None:
        if self.left <= 0:
            raise PowerCutError
        self.left -= 1
        self.saved += artefacts
        await super().save(round_id, *artefacts)


class SlowStore(MemoryStore):
    """A memory store that yields to other tasks before opening a round."""

    async def open(self, round_: Round) -> bool:
        await asyncio.sleep(0)
        return await super().open(round_)


class HeldJudges(FakeGateway):
    """Judges that vote once they are released."""

    async def complete(self, call: Call) -> Reply:
        if call.role is Role.BALLOT:
            await self.released.wait()
        return await super().complete(call)


@dataclass(eq=False)
class BlockedGateway(FakeGateway):
    """Replies once `goes_on` is set."""

    goes_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def complete(self, call: Call) -> Reply:
        await self.goes_on.wait()
        return await super().complete(call)
