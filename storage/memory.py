"""An in-memory round store with the semantics of the one in a database."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from council.ballots import Ballot, SpoiledBallot
from council.errors import StoreError
from council.feedback import Feedback, HumanVote
from council.integrity.erasure import check_feedback_allowed, check_not_forgotten, forget
from council.integrity.hash_chain import Link, next_link
from council.integrity.seal import Seal, compute_digests
from council.places import Place
from council.ports import ALL_ROUNDS, RoundQuery, RoundSummary
from council.rounds import Artefact, Closing, Round, Stage, sort_by_panel
from storage.hash_chain import ChainEntry, imported_entry, new_salt
from storage.queries import MAX_PAST_ROUNDS, match_id, round_not_found
from storage.row_mapping import list_artefacts


class MemoryStore:
    """The round store in dictionaries.

    The functions in `on_delete` are called with each deleted workspace and the ids of its rounds.
    """

    def __init__(self) -> None:
        self.on_delete: list[Callable[[Place, Sequence[str]], None]] = []
        self._rounds: dict[str, Round] = {}
        self._seals: dict[str, Seal] = {}
        self._heads: dict[str, Link] = {}
        self._paused: set[str] = set()
        self._delivered: set[str] = set()
        self._ratings: dict[tuple[str, str], Feedback] = {}
        self._votes: dict[tuple[str, str], HumanVote] = {}

    async def open(self, round_: Round) -> bool:
        """Store a new round with all its artefacts; return False if its id is taken."""
        return await self.import_round(round_, None)

    async def import_round(self, round_: Round, seal: Seal | None) -> bool:
        """Store a round from elsewhere, as `open` does, with the seal it has there."""
        if round_.id in self._rounds:
            return False
        self._rounds[round_.id] = round_
        if round_.closing:
            self._link(round_, imported_entry(round_, seal, new_salt))
        return True

    async def save(self, round_id: str, artefact: Artefact) -> None:
        """Store an artefact of a round once."""
        if round_id not in self._rounds:
            raise StoreError("The round this belongs to is not stored, or no longer.")
        round_ = self._rounds[round_id]
        check_not_forgotten(round_)
        if round_.closing or _has_artefact(round_, artefact):
            return
        self._rounds[round_id] = round_ = round_.with_(artefact)
        if isinstance(artefact, Closing):
            self._link(round_, ChainEntry(new_salt()))

    async def load(self, round_id: str) -> Round:
        """Return a round in panel order; raise RoundNotFoundError."""
        return sort_by_panel(self._get(round_id))

    async def seal(self, round_id: str) -> Seal | None:
        """Return the digests of a closed round and its hash chain link; None without them."""
        return self._seals.get(round_id)

    async def find(self, start: str) -> str:
        """Return the one round id that starts with `start`; raise RoundNotFoundError."""
        return match_id(start, [key for key in self._rounds if key.startswith(start)])

    async def list_summaries(
        self, limit: int | None = None, wanted: RoundQuery = ALL_ROUNDS
    ) -> tuple[RoundSummary, ...]:
        """Return the summaries of the wanted rounds, newest first."""
        summaries = map(self._summary, self._newest_first())
        return tuple(summary for summary in summaries if wanted.admits(summary))[:limit]

    async def load_summary(self, round_id: str) -> RoundSummary:
        """Return the summary of a round; raise RoundNotFoundError."""
        return self._summary(self._get(round_id))

    async def pause(self, round_id: str, *, paused: bool) -> None:
        """Mark a round as paused on purpose, or as resumed."""
        self._paused = self._with_flag(self._paused, round_id, paused)

    async def deliver(self, round_id: str, *, delivered: bool) -> None:
        """Mark a round as delivered to its place, or as undelivered."""
        self._delivered = self._with_flag(self._delivered, round_id, delivered)

    async def rate(self, feedback: Feedback) -> None:
        """Store a person's feedback on a round; the newest of each person counts."""
        summary, key = await self.load_summary(feedback.round_id), (feedback.round_id, feedback.by)
        check_feedback_allowed(feedback, summary.forgotten)
        before = self._ratings.get(key, feedback)
        self._ratings[key] = feedback if feedback.at >= before.at else before

    async def ratings(self, round_id: str) -> tuple[Feedback, ...]:
        """Return the feedback on a round, oldest first."""
        found = [feedback for (of, _), feedback in self._ratings.items() if of == round_id]
        return tuple(sorted(found, key=lambda feedback: (feedback.at, feedback.by)))

    async def vote(self, vote: HumanVote) -> None:
        """Store a person's vote on a round; the newest of each person counts."""
        self._get(vote.round_id)
        before = self._votes.get((vote.round_id, vote.by), vote)
        self._votes[vote.round_id, vote.by] = vote if vote.at >= before.at else before

    async def votes(self, round_id: str | None = None) -> tuple[HumanVote, ...]:
        """Return the votes on a round, or on all rounds, oldest first."""
        found = [vote for vote in self._votes.values() if round_id in {None, vote.round_id}]
        return tuple(sorted(found, key=lambda vote: (vote.at, vote.round_id, vote.by)))

    async def ids(
        self, limit: int | None = None, wanted: RoundQuery = ALL_ROUNDS
    ) -> tuple[str, ...]:
        """Return the ids of the wanted rounds, oldest first."""
        found = (round_ for round_ in self._rounds.values() if wanted.admits(self._summary(round_)))
        oldest_first = sorted(found, key=lambda round_: (round_.asked_at, round_.id))
        return tuple(round_.id for round_ in oldest_first)[:limit]

    async def forget(self, round_id: str, at: datetime, salt: str) -> bool:
        """Delete the texts of a round; return False if they were deleted before."""
        before = await self.load(round_id)
        seal = self._seals.get(round_id)
        self._rounds[round_id] = forget(before, at, seal.notes.salt if seal else salt)
        for feedback in await self.ratings(round_id):
            self._ratings[round_id, feedback.by] = replace(feedback, reason="")
        return not before.forgotten

    async def delete_workspace(self, chat: str, workspace: str) -> int:
        """Delete every round of a workspace; return how many there were."""
        place = Place(chat, workspace)
        dropped = await self.ids(wanted=RoundQuery(chats=(chat,), workspace=workspace))
        for round_id in dropped:
            del self._rounds[round_id]
            self._seals.pop(round_id, None)
            for feedback in await self.ratings(round_id):
                del self._ratings[round_id, feedback.by]
            for vote in await self.votes(round_id):
                del self._votes[round_id, vote.by]
        self._paused -= {*dropped}
        self._delivered -= {*dropped}
        if scope := place.scope:  # the chain of the scope "" is shared and remains
            self._heads.pop(scope, None)
        for notify in self.on_delete:
            notify(place, dropped)
        return len(dropped)

    async def wipe(self) -> None:
        """Do nothing: there are no files."""

    async def load_past_ballots(self, panel: str) -> tuple[Sequence[Ballot], ...]:
        """Return the counted ballots of a panel's last closed rounds, without exchanges."""
        closed = [
            round_
            for round_ in self._newest_first()
            if round_.panel.name == panel and round_.stage is Stage.CLOSED
        ]
        counted = [
            tuple(replace(ballot, paper=None) for ballot in round_.ballots if ballot.counts)
            for round_ in closed[:MAX_PAST_ROUNDS]
        ]
        return tuple(ballots for ballots in counted if ballots)

    def _link(self, round_: Round, entry: ChainEntry) -> None:
        scope, notes = (
            round_.question.place.scope,
            compute_digests(sort_by_panel(round_), entry.salt),
        )
        last = next_link(self._heads.get(scope), scope, round_.id, notes.digest, entry.origin)
        self._heads[scope], self._seals[round_.id] = last, Seal(notes, last)

    def _get(self, round_id: str) -> Round:
        if round_id not in self._rounds:
            raise round_not_found(round_id)
        return self._rounds[round_id]

    def _with_flag(self, ids: set[str], round_id: str, is_set: bool) -> set[str]:
        return ids | ({round_id} & self._rounds.keys()) if is_set else ids - {round_id}

    def _summary(self, round_: Round) -> RoundSummary:
        paused, delivered = round_.id in self._paused, round_.id in self._delivered
        return replace(RoundSummary.of(round_), paused=paused, delivered=delivered)

    def _newest_first(self) -> list[Round]:
        by_id = sorted(self._rounds.values(), key=lambda round_: round_.id)
        return sorted(by_id, key=lambda round_: round_.asked_at, reverse=True)


def _has_artefact(round_: Round, artefact: Artefact) -> bool:
    """Return whether the round has this artefact, or another one with the same key."""
    stored = [*list_artefacts(round_), *([round_.closing] if round_.closing else [])]
    return _key(artefact) in map(_key, stored)


def _key(artefact: Artefact) -> tuple[object, ...]:
    """Return the key under which a round has one artefact at most."""
    seat = getattr(artefact, "member", getattr(artefact, "judge", None))
    role, audit = getattr(artefact, "role", None), getattr(artefact, "audit", None)
    attempt = artefact.paper.attempt if isinstance(artefact, SpoiledBallot) else None
    return (type(artefact), seat, role, audit, attempt)
