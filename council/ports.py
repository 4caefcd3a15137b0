"""What the council needs from the world, as protocols."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from council.ballots import Ballot
from council.calls import Call, Reply
from council.feedback import Feedback
from council.outgoing import Claim
from council.panel import Member
from council.places import NOWHERE, Place
from council.prices import Price
from council.rounds import Artefact, Round, Stage
from council.spending import Account, Caps, Refusal, Scope, Used


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


@dataclass(frozen=True, slots=True)
class RoundLine:
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
    def of(cls, round_: Round) -> "RoundLine":
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
class Wanted:
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

    def admits(self, line: RoundLine) -> bool:
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

    def _in_place(self, line: RoundLine) -> bool:
        place = line.place
        is_here = self.here is not None and self.here.shares_channel(place)
        return (
            (not self.chats or place.chat in self.chats)
            and self.workspace in {None, place.workspace}
            and (self.asker is None or not place.private or line.asked_by == self.asker)
            and (self.here is None or not place.private or is_here)
            and (is_here or not self.only_here)
        )

    def _in_state(self, line: RoundLine) -> bool:
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


EVERY = Wanted()


class Store(Protocol):
    """Where rounds are kept; each call is one transaction. Raises StoreError when it cannot."""

    async def open(self, round_: Round) -> bool:
        """Keep a new round with all it holds; change nothing and give False if its id is kept."""
        ...

    async def save(self, round_id: str, artefact: Artefact) -> None:
        """Keep what a round has come to; the same artefact twice is kept once.

        Raises ForgottenError for a round that was forgotten meanwhile.
        """
        ...

    async def load(self, round_id: str) -> Round:
        """Give a round with its parts in panel order; raise RoundNotFoundError if there is none."""
        ...

    async def find(self, start: str) -> str:
        """Give the one round id that starts so; raise RoundNotFoundError for none or several."""
        ...

    async def recent(
        self, limit: int | None = None, wanted: Wanted = EVERY
    ) -> tuple[RoundLine, ...]:
        """Give the stored rounds that are wanted, newest first."""
        ...

    async def line(self, round_id: str) -> RoundLine:
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

    async def ids(self, limit: int | None = None, wanted: Wanted = EVERY) -> tuple[str, ...]:
        """Give the ids of the rounds that are wanted, oldest first."""
        ...

    async def forget(self, round_id: str, at: datetime, salt: str) -> bool:
        """Have a round without its texts, as `council.forgetting.forget` does; False if it was.

        The reasons of what people think of it go too.
        Raises RoundNotFoundError if there is none. What the texts leave in the files is gone after
        `wipe`, which serves any number of forgotten rounds at once.
        """
        ...

    async def drop(self, chat: str, workspace: str) -> int:
        """Delete every round that was asked in a workspace; give how many there were.

        Their messages on the way out and what people said of them go too; what they cost stays,
        under nobody's name. Stop those under way first, and `wipe` after.
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


class Outgoing(Protocol):
    """Where messages on their way out are kept; raises StoreError when it cannot."""

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


class Ledger(Protocol):
    """Where money is reserved and spent; each call is one transaction. Raises StoreError.

    Amounts are micro-dollars. What a round takes of a cap is what it has reserved in all, or what
    it has spent where that is more.
    """

    async def reserve(self, account: Account, micro: int, caps: Caps) -> Refusal | None:
        """Reserve so much for a new round; give the cap that it does not fit under, if any.

        A round that is in the ledger already, on whatever day, is left as it is.
        """
        ...

    async def extend(self, account: Account, micro: int, caps: Caps) -> Refusal | None:
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

    async def used(self, account: Account) -> Mapping[Scope, Used]:
        """Give what is gone of each scope that the account falls under."""
        ...
