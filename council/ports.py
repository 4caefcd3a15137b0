"""Ports: protocols of what the council needs from outside, and queries of stored rounds."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from council.answers import Call, Reply, Scores
from council.ballots import Ballot
from council.budget_caps import Account, CapRefusal, Caps, CapUsage, Scope
from council.feedback import Feedback, HumanVote
from council.integrity.seal import Seal
from council.money import Price, Spending
from council.panel import Member
from council.people import Person
from council.places import NOWHERE, Place
from council.providers import Limits, ProviderLoad
from council.rounds import Artefact, Decision, Round, Stage

T = TypeVar("T")

# The kind of memo of a line that waits to be asked, with its context and the ids that this quotes.
UNASKED = "unasked"


class Gateway(Protocol):
    """Calls models."""

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the client libraries, stored with the round: {"litellm": "1.106.2"}."""

    async def complete(self, call: Call) -> Reply:
        """Return the model's reply; raise GatewayError if there is none.

        The caller enforces its deadline by cancelling. Retries happen inside and stop with the
        cancellation. An empty reply is a GatewayError; one that ended at its token limit has `cut`
        set.
        """

    def context_tokens(self, member_key: str) -> int | None:
        """Return the member's context size, prompt and reply together; None if unknown."""

    async def sees_images(self, seat: Member) -> bool:
        """Return whether the seat's model takes images."""

    async def price(self, seat: Member) -> Price | None:
        """Return the price of the seat's tokens; None if unknown, which never means free."""


class SharedRateLimiter(Protocol):
    """Limits calls at each provider address, for one process or for all that share a database."""

    def slot(self, gate: str, limits: Limits) -> AbstractAsyncContextManager[None]:
        """Wait for a turn at an address and hold it for the duration of the block.

        Turns are granted roughly in the order of requests. Cancelling releases everything. If
        nobody can count at the moment, the turn is granted at once and no error is raised.
        """

    def provider_load(self, gate: str) -> ProviderLoad | None:
        """Return the last known load of all processes at an address; None if unknown."""


class Ledger(Protocol):
    """Money reserved and spent, in micro-dollars; every method is one transaction.

    A round uses up of a cap what it has reserved in total, or what it has spent if that is more.
    Methods raise StoreError if the database fails.
    """

    async def reserve(self, account: Account, micro: int, caps: Caps) -> CapRefusal | None:
        """Reserve for a round that is not in the ledger; return the cap it would exceed."""

    async def extend(self, account: Account, micro: int, caps: Caps) -> CapRefusal | None:
        """Raise a round's total reservation to an amount; return the cap it would exceed, if any.

        Spending on other days counts; reservations of other days are freed in any case. Today's
        reservation is never reduced.
        """

    def defer(self, account: Account, cost: int | None) -> None:
        """Keep the cost of a call until the next `settle`, or until its reply is stored if sooner.

        None is an unknown cost. A process that dies before loses it, with the reply.
        """

    async def settle(self, account: Account, *costs: int | None) -> None:
        """Add the costs of calls and those deferred; None is a call with an unknown cost."""

    async def release(self, round_id: str) -> None:
        """Free what a round has reserved and not spent."""

    async def list_reserved_rounds(self) -> tuple[str, ...]:
        """Return the ids of the rounds with a reservation."""

    async def spent(self, round_id: str) -> Spending:
        """Return what a round has spent on all days."""

    async def spent_by_round(self, round_ids: Sequence[str]) -> Mapping[str, Spending]:
        """Return what each of these rounds has spent, without those that have spent nothing."""

    async def usage(self, account: Account) -> Mapping[Scope, CapUsage]:
        """Return the usage of each scope that includes the account."""


@dataclass(frozen=True, slots=True)
class RoundSummary:
    """One line of a list of stored rounds; `seconds` is None until the round is closed.

    `strength` is that of its verdict, "" before there is one; `failure` says why it failed.
    `people` are those whom the question calls Person 1, Person 2. `rounds` is how many the line
    stands for, in a list with `RoundQuery.folded`.
    """

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
    failure: str | None = None
    delivered: bool = False
    bakeoff: str = ""
    strength: str = ""
    people: tuple[Person, ...] = ()
    rounds: int = 1

    @property
    def failed(self) -> bool:
        """Whether the round closed with a failure."""
        return self.failure is not None

    @classmethod
    def of(cls, round_: Round) -> "RoundSummary":
        """Return a round's summary; whether it is paused or delivered is not part of a round."""
        question, closing = round_.question, round_.closing
        return cls(
            id=round_.id,
            question=question.text,
            asked_at=round_.asked_at,
            stage=round_.stage,
            asked_by=question.asked_by,
            place=question.place,
            forgotten=round_.forgotten.at if round_.forgotten else None,
            panel=round_.panel.name,
            seconds=closing.seconds if closing else None,
            failure=closing.failure if closing else None,
            bakeoff=round_.bakeoff,
            strength=round_.tally.verdict.strength if round_.tally else "",
            people=question.reading.people if question.reading else (),
        )


@dataclass(frozen=True, slots=True)
class RoundQuery:
    """Filter of stored rounds; by default it matches all of them.

    - `containing`: text in the question, ignoring case; `anywhere`: also in its answers
    - `winner`: a member in first place, alone or tied
    - `chats`, `workspace`, `panel`, `asked_by`: where, to whom and by whom it was asked
    - `asker`: leaves out private rounds of other people; None shows all
    - `here`: leaves out private rounds of other channels; with `only_here`, public ones too
    - `since`, `before`: asked at `since` or later, and before `before`
    - `unfinished`: can be resumed, so not closed, erased or stopped on purpose
    - `remembered`: not erased
    - `undelivered`: not erased, not of a bake-off, and not yet delivered to its place
    - `succeeded`: closed without a failure
    - `bakeoff`: the id of its bake-off; "" for none, None for any or none
    - `folded`: a list has only the newest round of each bake-off; `before` is about that one
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
    anywhere: str = ""
    winner: str = ""
    folded: bool = False

    def covers(self, place: Place, asked_by: str) -> bool:
        """Return whether it matches a round of a place and asker, if all else about it matches."""
        is_here = self.here is not None and self.here.shares_channel(place)
        return (
            (not self.chats or place.chat in self.chats)
            and self.workspace in {None, place.workspace}
            and (self.asker is None or not place.private or asked_by == self.asker)
            and (self.here is None or not place.private or is_here)
            and (is_here or not self.only_here)
        )

    @property
    def excludes_forgotten(self) -> bool:
        """Whether the filter excludes rounds whose texts were erased."""
        return self.unfinished or self.remembered or self.undelivered


ALL_ROUNDS = RoundQuery()


class RunningRoundStore(Protocol):
    """What a running round needs of a store; every method is one transaction."""

    async def together(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do some work in one transaction if the store can, also with other stores beside it.

        The work must be short, and must wait for no model and for no other task.
        """

    async def save(self, round_id: str, *artefacts: Artefact) -> None:
        """Add artefacts to a round; saving the same one twice has no effect.

        The closing seals the round and adds it to its chain; later artefacts are ignored. Raise
        ForgottenError for a round whose texts were erased meanwhile.
        """

    async def load(self, round_id: str) -> Round:
        """Return a round with its parts in panel order; raise RoundNotFoundError without one."""

    async def load_past_ballots(self, panel: str) -> tuple[Sequence[Ballot], ...]:
        """Return the counted, readable ballots of the panel's last hundred closed rounds."""


class Store(RunningRoundStore, Protocol):
    """Store of rounds; every method is one transaction."""

    async def list_scores(self, bakeoff: str, kind: str) -> tuple[tuple[Scores, ...], ...]:
        """Return the scores of a bake-off's readable exchanges of a kind, for each round."""

    async def open(self, round_: Round) -> bool:
        """Insert a new round with all its artefacts; return False if its id exists already."""

    async def import_round(self, round_: Round, seal: Seal | None) -> bool:
        """Insert a round like `open`, with its seal; a closed one gets an imported link."""

    async def seal(self, round_id: str) -> Seal | None:
        """Return the digests and link of a closed round; None if open, or older than seals."""

    async def decide(self, round_id: str, decision: Decision, number: int) -> bool:
        """Store the `number`th decision on a closed round, and add it to the round's chain.

        Return False if another decision has this number already, so that of two at once one wins.
        Storing the same one twice has no effect. Raise ForgottenError, RoundNotFoundError.
        """

    async def list_decided(self, chat: str, by: str, since: datetime) -> tuple[datetime, ...]:
        """Return when somebody decided on rounds of a chat, from `since` on."""

    async def find(self, start: str) -> str:
        """Return the one round id with this prefix; raise RoundNotFoundError for none or many."""

    async def list_summaries(
        self, limit: int | None = None, wanted: RoundQuery = ALL_ROUNDS
    ) -> tuple[RoundSummary, ...]:
        """Return the summaries of matching rounds, newest first."""

    async def load_summary(self, round_id: str) -> RoundSummary:
        """Return a round's summary; raise RoundNotFoundError without one."""

    async def pause(self, round_id: str, *, paused: bool) -> None:
        """Store whether somebody stopped the round on purpose."""

    async def deliver(self, round_id: str, *, delivered: bool) -> None:
        """Store whether all messages of the round were delivered to its place."""

    async def rate(self, feedback: Feedback) -> None:
        """Store a person's feedback, replacing their earlier one.

        Raise RoundNotFoundError for an unknown round, ForgottenError for a reason on a round whose
        texts were erased.
        """

    async def ratings(self, round_id: str) -> tuple[Feedback, ...]:
        """Return the feedback on a round, oldest first; empty for an unknown round."""

    async def vote(
        self, vote: HumanVote, *, imported: bool = False, hides_result: bool = False
    ) -> HumanVote:
        """Store a person's vote as `settle_vote` says, and return it, or the one that stays.

        Whether the round has a result is decided in the same transaction. An imported vote is as
        blind as it was elsewhere; one on a round that `hides_result`, and in a bake-off, can be
        blind after the result. Raise RoundNotFoundError.
        """

    async def votes(
        self, round_id: str | None = None, *, bakeoff: str | None = None
    ) -> tuple[HumanVote, ...]:
        """Return the votes of people on one round, on a bake-off's or on all, oldest first."""

    async def ids(
        self, limit: int | None = None, wanted: RoundQuery = ALL_ROUNDS
    ) -> tuple[str, ...]:
        """Return the ids of matching rounds, oldest first."""

    async def forget(self, round_id: str, at: datetime, salt: str) -> bool:
        """Erase a round's texts as `council.integrity.erasure.forget` does; False if done before.

        Also erases the reasons of its feedback, and in the same transaction what other rounds quote
        of it, as `redact` does, and the memos of kind UNASKED that name it. Digests use the salt of
        the round's seal, or this one if it has no seal. Call `wipe` afterwards, once for any number
        of rounds, to overwrite what remains in the database files. Raise RoundNotFoundError for an
        unknown round.
        """

    async def list_quoting(self, round_id: str) -> Sequence[str]:
        """Return who asked each round that quotes this one, and loses texts if it is forgotten."""

    async def delete_workspace(self, chat: str, workspace: str) -> int:
        """Delete every round of a workspace and return their number.

        Deletes their outgoing messages, feedback and chain too; their costs stay, without names.
        Stop the running ones first and call `wipe` afterwards.
        """

    async def wipe(self) -> None:
        """Remove traces of erased texts from the files; raise StoreError if these are in use."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A process's claim on an outgoing message; `message` is its id in the chat once sent.

    `is_new` means that no process had claimed it before. `age_seconds` is measured by the clock
    of the store; `claimed_at` only distinguishes claims.
    """

    key: str
    claimed_at: datetime
    message: str | None = None
    is_new: bool = False
    age_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class SentPart:
    """A message of a round that was sent, or may have been, by its key and its id in the chat."""

    key: str
    round_id: str
    message: str | None


class OutboxStore(Protocol):
    """Store of outgoing messages; `now` counts only for stores without a clock."""

    async def claim(self, key: str, round_id: str, now: datetime) -> Claim:
        """Claim a message of a round for sending, or return the existing claim."""

    async def reclaim(self, claim: Claim, now: datetime) -> bool:
        """Take over a stale claim; return False if it was marked or taken over meanwhile."""

    async def mark(self, key: str, message: str) -> None:
        """Mark a message as sent, with its id in the chat."""

    async def find_message(self, key: str) -> str | None:
        """Return the id of the message sent under a key, or None."""

    async def find_key(self, start: str, message: str) -> str | None:
        """Return the key with this prefix under which a message was sent, or None."""

    async def list_forgotten(self, now: datetime) -> Sequence[SentPart]:
        """Return the messages of forgotten rounds; roots come after their replies.

        One that is claimed and not marked as sent is among them after a minute.
        """

    async def remove(self, key: str) -> None:
        """Delete the claim of a message."""

    async def count_unmarked(self, older_seconds: float, now: datetime) -> int:
        """Count the claims older than `older_seconds` that are not marked as sent."""


class KeyValueStore(Protocol):
    """Store of small texts by kind and name, shared by all processes."""

    async def check_writable(self) -> None:
        """Raise StoreError unless a small round could be stored now; do not retry."""

    async def put(self, kind: str, name: str, text: str) -> None:
        """Store a text, replacing the previous one."""

    async def put_if_absent(self, kind: str, name: str, text: str) -> str:
        """Store a text unless one exists; return the stored text."""

    async def mark_once(self, kind: str, name: str, seconds: float) -> bool:
        """Return True the first time within so many seconds, and remember it."""

    async def read(self, kind: str, name: str) -> str | None:
        """Return a text, or None."""

    async def list_texts(self, kind: str, start: str = "") -> Mapping[str, str]:
        """Return the texts of a kind whose names have this prefix, by name."""

    async def pop(self, kind: str, name: str) -> str | None:
        """Return a text and delete it; of concurrent callers exactly one receives it."""

    async def delete(self, kind: str, start: str) -> None:
        """Delete the texts of a kind whose names have this prefix."""

    async def prune(self, kind: str, most: int) -> None:
        """Delete all but the newest `most` texts of a kind."""
