"""Where the chains of closed rounds are read."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from council.answers import Call, Reply
from council.ballots import Ballot
from council.budget_caps import Account, CapRefusal, Caps, CapUsage, Claim, Scope
from council.feedback import Feedback, HumanVote
from council.integrity.hash_chain import Link, StoredLink
from council.integrity.seal import Seal
from council.money import Price
from council.panel import Member
from council.places import NOWHERE, Place
from council.providers import Limits, ProviderLoad
from council.rounds import Artefact, Round, Stage

# --- Where the chains of closed rounds are read.


class HashChainStore(Protocol):
    """The chains that are stored, one a scope; raises StoreError when it cannot."""

    async def heads(self) -> tuple[Link, ...]:
        """Give the last link of every chain, by scope."""
        ...

    async def links(self, scope: str, after: int | None, limit: int) -> tuple[StoredLink, ...]:
        """Give the links of a chain that come after a number, in order, so many at most.

        Without a number, from the first on.
        """
        ...


# --- The way to models.


class Gateway(Protocol):
    """The way to models."""

    @property
    def versions(self) -> dict[str, str]:
        """Versions of what carries the calls, stored with the round: {"litellm": "1.106.2"}."""
        ...

    async def complete(self, call: Call) -> Reply:
        """Give the model's reply; raise GatewayError when there is none.

        The caller sets the deadline by cancelling. Retries happen inside and stop with it. A reply
        with nothing in it is a GatewayError; one that ended at its token limit has `cut` set.
        """
        ...

    def context_tokens(self, member_key: str) -> int | None:
        """Give how many tokens the member takes, prompt and reply together; None if unknown."""
        ...

    async def price(self, seat: Member) -> Price | None:
        """Give what the seat's tokens cost; None if nobody knows, which is never free."""
        ...


# --- Where money is reserved and spent.


class Ledger(Protocol):
    """Where money is reserved and spent; each call is one transaction. Raises StoreError.

    Amounts are micro-dollars. What a round takes of a cap is what it has reserved in all, or what
    it has spent where that is more.
    """

    async def reserve(self, account: Account, micro: int, caps: Caps) -> CapRefusal | None:
        """Reserve so much for a new round; give the cap that it does not fit under, if any.

        A round that is in the ledger already, on whatever day, is left as it is.
        """
        ...

    async def extend(self, account: Account, micro: int, caps: Caps) -> CapRefusal | None:
        """Have so much in all reserved for a round; give the cap it does not fit under, if any.

        What it spent on other days counts, and what it reserved on them is freed, whether the rest
        fits or not. What is reserved already for this day is never made less.
        """
        ...

    async def settle(self, account: Account, *costs: int | None) -> None:
        """Add what calls cost; None is a call whose cost nobody knows."""
        ...

    async def free(self, round_id: str) -> None:
        """Give back what a round has reserved and not spent."""
        ...

    async def held(self) -> tuple[str, ...]:
        """Give the rounds that have something reserved."""
        ...

    async def spent(self, round_id: str) -> int:
        """Give what a round has spent on all its days."""
        ...

    async def used(self, account: Account) -> Mapping[Scope, CapUsage]:
        """Give what is gone of each scope that the account falls under."""
        ...


# --- Which rounds to list, and one of them in a line.


@dataclass(frozen=True, slots=True)
class RoundSummary:
    """A stored round in one line; `seconds` is None until it is closed."""

    id: str
    question: str
    asked_at: datetime
    stage: Stage
    asked_by: str = ""
    place: Place = NOWHERE
    paused: bool = False
    forgotten: datetime | None = None
    panel: str = ""
    seconds: float | None = None
    failed: bool = False
    delivered: bool = False
    bakeoff: str = ""

    @classmethod
    def of(cls, round_: Round) -> "RoundSummary":
        """Give a round's line, without what is not its own: whether it is paused or delivered."""
        asked, closing = round_.question, round_.closing
        told = (round_.id, asked.text, round_.asked_at, round_.stage)
        return cls(
            *told,
            asked.asked_by,
            asked.place,
            forgotten=round_.forgotten.at if round_.forgotten else None,
            panel=round_.panel.name,
            seconds=closing.seconds if closing else None,
            failed=closing is not None and closing.failure is not None,
            bakeoff=round_.bakeoff,
        )


@dataclass(frozen=True, slots=True)
class RoundQuery:
    """Which rounds to list; as it stands, all of them.

    `containing` is looked for in the question, capitals or not. `chats` are those the rounds were
    asked in; of private ones only those that `asker` asked for are given, unless it is None.
    `unfinished` are those that can be gone on with: neither closed, nor forgotten, nor stopped on
    purpose; `remembered` those that were not forgotten; `undelivered` those of them that are not
    yet delivered to their place, stopped or not; `succeeded` those that closed without a failure.
    They were asked at `since` or later, and before `before`; they belong to `bakeoff`, to none
    where it is "", and to any or none where it is None. Rounds of bake-offs are never
    `undelivered`.

    Private rounds are given only in the channel they were asked in where `here` is one, and with
    `only_here` no round of any other channel is.
    """

    containing: str = ""
    chats: tuple[str, ...] = ()
    asker: str | None = None
    unfinished: bool = False
    remembered: bool = False
    since: datetime | None = None
    before: datetime | None = None
    workspace: str | None = None
    here: Place | None = None
    only_here: bool = False
    undelivered: bool = False
    succeeded: bool = False
    panel: str = ""
    asked_by: str | None = None
    bakeoff: str | None = None

    def admits(self, line: RoundSummary) -> bool:
        """Say whether a round is among those wanted."""
        return (
            self.containing.lower() in line.question.lower()
            and self.panel in {"", line.panel}
            and self.asked_by in {None, line.asked_by}
            and self.bakeoff in {None, line.bakeoff}
            and self._in_place(line)
            and self._in_state(line)
            and self._in_time(line.asked_at)
        )

    def _in_place(self, line: RoundSummary) -> bool:
        place = line.place
        is_here = self.here is not None and self.here.shares_channel(place)
        return (
            (not self.chats or place.chat in self.chats)
            and self.workspace in {None, place.workspace}
            and (self.asker is None or not place.private or line.asked_by == self.asker)
            and (self.here is None or not place.private or is_here)
            and (is_here or not self.only_here)
        )

    def _in_state(self, line: RoundSummary) -> bool:
        is_closed = line.seconds is not None
        return (
            not (self.unfinished and (line.paused or is_closed))
            and not (self.undelivered and (line.delivered or line.bakeoff))
            and not (self.succeeded and (line.failed or not is_closed))
            and not (self.leaves_forgotten_out and line.forgotten)
        )

    @property
    def leaves_forgotten_out(self) -> bool:
        """Whether no round is wanted whose texts are gone."""
        return self.unfinished or self.remembered or self.undelivered

    def _in_time(self, asked_at: datetime) -> bool:
        early = self.since is not None and asked_at < self.since
        return not early and (self.before is None or asked_at < self.before)


EVERY = RoundQuery()


# --- Where a few words are kept that the chats need again, whichever process hears what comes nex


class KeyValueStore(Protocol):
    """Texts by kind and name; raises StoreError when it cannot."""

    async def note(self, kind: str, name: str, text: str) -> None:
        """Keep a text, in place of the one before."""
        ...

    async def first(self, kind: str, name: str, text: str) -> str:
        """Keep a text unless there is one, and give the one there is."""
        ...

    async def once(self, kind: str, name: str, seconds: float) -> bool:
        """Say whether this is the first time within so many seconds, and note that it was."""
        ...

    async def read(self, kind: str, name: str) -> str | None:
        """Give a text; None where there is none."""
        ...

    async def every(self, kind: str, start: str = "") -> Mapping[str, str]:
        """Give the texts of a kind whose names start so, by name."""
        ...

    async def take(self, kind: str, name: str) -> str | None:
        """Give a text and keep it no more; of two who take it one has it."""
        ...

    async def drop(self, kind: str, start: str) -> None:
        """Keep no text of a kind any more whose name starts so."""
        ...

    async def keep_newest(self, kind: str, most: int) -> None:
        """Keep so many texts of a kind at most, those that were noted last."""
        ...


# --- Where messages on their way out are kept.


class OutboxStore(Protocol):
    """Where messages on their way out are kept; raises StoreError when it cannot.

    Moments are those of the clock that all who share it have: what is given as `now` counts only
    where that is the caller's.
    """

    async def claim(self, key: str, round_id: str, now: datetime) -> Claim:
        """Undertake to send a message of a round, or give the claim there is already."""
        ...

    async def take_over(self, claim: Claim, now: datetime) -> bool:
        """Take a claim from whoever let it lie; False if it was marked or taken meanwhile."""
        ...

    async def mark(self, key: str, message: str) -> None:
        """Note that a message was sent, with the id it has in its chat."""
        ...

    async def message_of(self, key: str) -> str | None:
        """Give the message that was sent under a key, None if none was."""
        ...

    async def key_of(self, start: str, message: str) -> str | None:
        """Give the key with this start under which a message was sent, if any was."""
        ...

    async def unmarked(self, older_seconds: float, now: datetime) -> int:
        """Count the claims that have lain for longer than that without a mark."""
        ...


# --- Where rounds are kept.


class Store(Protocol):
    """Where rounds are kept; each call is one transaction. Raises StoreError when it cannot."""

    async def open(self, round_: Round) -> bool:
        """Keep a new round with all it holds; change nothing and give False if its id is kept."""
        ...

    async def import_round(self, round_: Round, seal: Seal | None) -> bool:
        """Keep a round as `open` does, with what was noted of it where it closed, if anything was.

        One that is at its end joins its chain here as one that comes from elsewhere.
        """
        ...

    async def save(self, round_id: str, artefact: Artefact) -> None:
        """Keep what a round has come to; the same artefact twice is kept once.

        With its closing a round joins its chain, and nothing is added to it any more: what comes
        later is passed over. Raises ForgottenError for a round that was forgotten meanwhile.
        """
        ...

    async def load(self, round_id: str) -> Round:
        """Give a round with its parts in panel order; raise RoundNotFoundError if there is none."""
        ...

    async def seal(self, round_id: str) -> Seal | None:
        """Give what was noted of a round as it closed, and its link; None where nothing ever was.

        A round that is not at its end has none, nor one that closed before the chain began.
        """
        ...

    async def find(self, start: str) -> str:
        """Give the one round id that starts so; raise RoundNotFoundError for none or several."""
        ...

    async def recent(
        self, limit: int | None = None, wanted: RoundQuery = EVERY
    ) -> tuple[RoundSummary, ...]:
        """Give the stored rounds that are wanted, newest first."""
        ...

    async def line(self, round_id: str) -> RoundSummary:
        """Give a round in one line; raise RoundNotFoundError if there is none."""
        ...

    async def pause(self, round_id: str, *, paused: bool) -> None:
        """Note that somebody stopped a round on purpose, or wants it to go on."""

    async def deliver(self, round_id: str, *, delivered: bool) -> None:
        """Note that all there is to say of a round is in the place it was asked in, or is not."""

    async def rate(self, feedback: Feedback) -> None:
        """Keep what somebody thinks of a round; of one person's several the newest.

        Raises RoundNotFoundError if there is none, ForgottenError for words on one whose texts are
        gone.
        """
        ...

    async def ratings(self, round_id: str) -> tuple[Feedback, ...]:
        """Give what people think of a round, oldest first; nothing for one there is not."""
        ...

    async def vote(self, vote: HumanVote) -> None:
        """Keep which answer somebody calls the best; of one person's several the newest.

        Raises RoundNotFoundError if there is none.
        """
        ...

    async def votes(self, round_id: str | None = None) -> tuple[HumanVote, ...]:
        """Give what people voted on a round, or on all, oldest first."""
        ...

    async def ids(self, limit: int | None = None, wanted: RoundQuery = EVERY) -> tuple[str, ...]:
        """Give the ids of the rounds that are wanted, oldest first."""
        ...

    async def forget(self, round_id: str, at: datetime, salt: str) -> bool:
        """Have a round without its texts, as `council.forgetting.forget` does; False if it was.

        The digests of its texts have the salt they had since it closed, and this one where it has
        no link. The reasons of what people think of it go too.
        Raises RoundNotFoundError if there is none. What the texts leave in the files is gone after
        `wipe`, which serves any number of forgotten rounds at once.
        """
        ...

    async def drop(self, chat: str, workspace: str) -> int:
        """Delete every round that was asked in a workspace; give how many there were.

        Their messages on the way out, what people said of them and their chain go too; what they
        cost stays, under nobody's name. Stop those under way first, and `wipe` after.
        """
        ...

    async def wipe(self) -> None:
        """Leave nothing of forgotten texts in the files; StoreError if another program keeps it."""
        ...

    async def past_ballots(self, panel: str) -> tuple[Sequence[Ballot], ...]:
        """Give the counted ballots of the panel's last closed rounds, a hundred at most.

        A round with a ballot that cannot be read is left out.
        """
        ...


# --- Where calls wait for their turn at a provider.


class SharedRateLimiter(Protocol):
    """Lets calls go out to providers, so many at once and so many a minute at each address.

    Who counts them may be one process, or all that share a database.
    """

    def turn(self, gate: str, limits: Limits) -> AbstractAsyncContextManager[None]:
        """Wait for a turn at an address, and hold it as long as the block lasts.

        Turns come in about the order they were asked for; whoever is cancelled leaves nothing
        behind. Where nobody can count for the moment, a turn is given at once and no error raised.
        """
        ...

    def crowd(self, gate: str) -> ProviderLoad | None:
        """Give what all processes had at an address when last looked; None where nobody knows."""
        ...


# --- What the council needs from the world, as protocols.
