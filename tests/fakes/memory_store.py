"""A round store in memory, with all that the one in a database does."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

from council.answers import LateReply, Scores
from council.ballots import Ballot, SpoiledBallot
from council.errors import StoreError
from council.feedback import Feedback, HumanVote, settle_vote
from council.integrity.erasure import (
    check_feedback_allowed,
    check_not_forgotten,
    forget,
    quotes,
    redact,
    redact_artefact,
    repeats,
)
from council.integrity.hash_chain import Link, next_link
from council.integrity.seal import DecisionSeal, Seal, compute_digests, seal_decision
from council.places import Place
from council.ports import ALL_ROUNDS, RoundQuery, RoundSummary
from council.rounds import Artefact, Decision, Round, sort_by_panel
from storage.hash_chain import imported_entry, new_salt
from storage.queries import MAX_PAST_ROUNDS, match_id, round_not_found
from storage.row_mapping import list_artefacts

T = TypeVar("T")
Entry = TypeVar("Entry", Feedback, HumanVote)


class MemoryStore:
    """`on_delete` are called with each deleted workspace and the ids of its rounds."""

    def __init__(self) -> None:
        self._rounds: dict[str, Round] = {}
        self.on_delete: list[Callable[[Place, Sequence[str]], None]] = []
        self._seals: dict[str, Seal] = {}
        self._heads: dict[str, Link] = {}
        self._flags: dict[str, dict[str, Any]] = {}  # paused and delivered
        self._ratings: dict[tuple[str, str], Feedback] = {}
        self._votes: dict[tuple[str, str], HumanVote] = {}

    async def open(self, round_: Round) -> bool:
        return await self.import_round(round_, None)

    async def import_round(self, round_: Round, seal: Seal | None) -> bool:
        if round_.id in self._rounds:
            return False
        self._rounds[round_.id] = round_
        if round_.closing:
            self._link(round_, *imported_entry(round_, seal))
            for number in range(1, len(round_.decisions) + 1):
                self._link_decision(round_, number, "elsewhere")
        return True

    async def together(self, work: Callable[[], Awaitable[T]]) -> T:
        return await work()

    async def save(self, round_id: str, *artefacts: Artefact) -> None:
        for artefact in artefacts:
            self._save(round_id, artefact)

    def _save(self, round_id: str, artefact: Artefact) -> None:
        if round_id not in self._rounds:
            raise StoreError("The round this belongs to is not stored, or was deleted.")
        before = self._rounds[round_id]
        check_not_forgotten(before)
        is_closed = before.closing and not isinstance(artefact, LateReply)
        if is_closed or _key(artefact) in map(_key, list_artefacts(before)):
            return
        kept = redact_artefact(artefact) if before.redacted else artefact
        after = self._rounds[round_id] = before.with_(kept)
        if after.closing:
            self._link(after, after.redacted.salt if after.redacted else new_salt())

    async def decide(self, round_id: str, decision: Decision, number: int) -> bool:
        before = await self.load(round_id)
        check_not_forgotten(before)
        if number <= len(before.decisions):
            return False
        self._rounds[round_id] = replace(before, decisions=(*before.decisions, decision))
        self._link_decision(self._rounds[round_id], number)
        return True

    async def list_decided(self, chat: str, by: str, since: datetime) -> tuple[datetime, ...]:
        rounds = (one for one in self._rounds.values() if one.question.place.chat == chat)
        made = (decision for round_ in rounds for decision in round_.decisions)
        return tuple(one.at for one in made if one.by == by and one.at >= since)

    async def load(self, round_id: str) -> Round:
        if round_id not in self._rounds:
            raise round_not_found(round_id)
        return sort_by_panel(self._rounds[round_id])

    async def load_past_ballots(self, panel: str) -> tuple[Sequence[Ballot], ...]:
        own = (round_ for round_ in self._newest_first() if round_.panel.name == panel)
        counted = (
            tuple(replace(ballot, paper=None) for ballot in round_.ballots if ballot.counts)
            for round_ in islice((round_ for round_ in own if round_.closing), MAX_PAST_ROUNDS)
        )
        return tuple(filter(None, counted))

    async def list_scores(self, bakeoff: str, kind: str) -> tuple[tuple[Scores, ...], ...]:
        own = sorted((x for x in self._rounds.values() if x.bakeoff == bakeoff), key=lambda x: x.id)
        by_round = (
            tuple(
                x.scores
                for x in sorted(one.exchanges, key=lambda x: x.seat)
                if x.kind == kind and not x.fault
            )
            for one in own
        )
        return tuple(filter(None, by_round))

    def _newest_first(self) -> list[Round]:
        by_id = sorted(self._rounds.values(), key=lambda round_: round_.id)
        return sorted(by_id, key=lambda round_: round_.asked_at, reverse=True)

    async def seal(self, round_id: str) -> Seal | None:
        return self._seals.get(round_id)

    async def find(self, start: str) -> str:
        return match_id(start, [key for key in self._rounds if key.startswith(start)])

    async def list_summaries(
        self, limit: int | None = None, wanted: RoundQuery = ALL_ROUNDS
    ) -> tuple[RoundSummary, ...]:
        found = (round_ for round_ in self._newest_first() if has_outcome(wanted, round_))
        summaries = map(self._summary, found)
        if not wanted.folded:
            return tuple(summary for summary in summaries if admits(wanted, summary))[:limit]
        ever = replace(wanted, before=None)
        runs: dict[str, list[RoundSummary]] = {}
        for line in summaries:
            if admits(ever, line):
                runs.setdefault(f"run {line.bakeoff}" if line.bakeoff else line.id, []).append(line)
        newest = (replace(run[0], rounds=len(run)) for run in runs.values())
        return tuple(line for line in newest if admits(wanted, line))[:limit]

    async def load_summary(self, round_id: str) -> RoundSummary:
        return self._summary(await self.load(round_id))

    async def pause(self, round_id: str, *, paused: bool) -> None:
        self._set(round_id, paused=paused)

    async def deliver(self, round_id: str, *, delivered: bool) -> None:
        self._set(round_id, delivered=delivered)

    def _set(self, round_id: str, **flag: bool) -> None:
        if round_id in self._rounds:
            self._flags.setdefault(round_id, {}).update(flag)

    async def rate(self, feedback: Feedback) -> None:
        check_feedback_allowed(feedback, (await self.load_summary(feedback.round_id)).forgotten)
        _put_newest(self._ratings, feedback)

    async def ratings(self, round_id: str) -> tuple[Feedback, ...]:
        found = [feedback for (of, _), feedback in self._ratings.items() if of == round_id]
        return tuple(sorted(found, key=lambda feedback: (feedback.at, feedback.by)))

    async def vote(
        self, vote: HumanVote, *, imported: bool = False, hides_result: bool = False
    ) -> HumanVote:
        round_, key = await self.load(vote.round_id), (vote.round_id, vote.by)
        has_result = bool(round_.tally or round_.closing) or imported
        hides_result = bool(round_.bakeoff) or imported or hides_result
        earlier = self._votes.get(key)
        self._votes[key] = settle_vote(
            vote, earlier, has_result=has_result, hides_result=hides_result
        )
        return self._votes[key]

    async def votes(
        self, round_id: str | None = None, *, bakeoff: str | None = None
    ) -> tuple[HumanVote, ...]:
        found = [
            vote
            for vote in self._votes.values()
            if round_id in {None, vote.round_id}
            and bakeoff in {None, self._rounds[vote.round_id].bakeoff}
        ]
        return tuple(sorted(found, key=lambda vote: (vote.at, vote.round_id, vote.by)))

    async def ids(
        self, limit: int | None = None, wanted: RoundQuery = ALL_ROUNDS
    ) -> tuple[str, ...]:
        found = await self.list_summaries(wanted=wanted)
        oldest_first = sorted(found, key=lambda line: (line.asked_at, line.id))
        return tuple(line.id for line in oldest_first)[:limit]

    async def forget(self, round_id: str, at: datetime, salt: str) -> bool:
        before = await self.load(round_id)
        salted = before.redacted or (seal.notes if (seal := self._seals.get(round_id)) else None)
        self._rounds[round_id] = forget(before, at, salted.salt if salted else salt)
        for feedback in await self.ratings(round_id):
            self._ratings[round_id, feedback.by] = replace(feedback, reason="")
        for quoting in [] if before.forgotten else self._quoting(before):
            own = self._seals.get(quoting.id)
            own_salt = own.notes.salt if own else new_salt()
            self._rounds[quoting.id] = redact(quoting, before, at, own_salt)
        return not before.forgotten

    async def list_quoting(self, round_id: str) -> tuple[str, ...]:
        return tuple(one.question.asked_by for one in self._quoting(await self.load(round_id)))

    def _quoting(self, source: Round) -> list[Round]:
        found: dict[str, Round] = {}
        for one in (sources := [source]):
            for later in sorted(self._rounds.values(), key=lambda later: later.asked_at):
                is_new = later.id not in {source.id, *found} and not later.forgotten
                by_text = one is source or repeats(one, source)
                if is_new and (by_text or later.question.quotes is not None) and quotes(later, one):
                    found[later.id] = later
                    sources.append(later)
        return [*found.values()]

    async def delete_workspace(self, chat: str, workspace: str) -> int:
        place = Place(chat, workspace)
        dropped = await self.ids(wanted=RoundQuery(chats=(chat,), workspace=workspace))
        for by_id in (self._rounds, self._seals, self._flags):
            for round_id in dropped:
                by_id.pop(round_id, None)
        for by_person in (self._ratings, self._votes):
            for key in [key for key in by_person if key[0] in dropped]:
                del by_person[key]
        if scope := place.scope:  # the chain of the scope "" is shared and remains
            self._heads.pop(scope, None)
        for notify in self.on_delete:
            notify(place, dropped)
        return len(dropped)

    async def wipe(self) -> None:
        pass

    def _link(self, round_: Round, salt: str, origin: str = "") -> None:
        scope, notes = round_.question.place.scope, compute_digests(sort_by_panel(round_), salt)
        last = next_link(self._heads.get(scope), scope, round_.id, notes.digest, origin)
        self._heads[scope], self._seals[round_.id] = last, Seal(notes, last)

    def _link_decision(self, round_: Round, number: int, origin: str = "") -> None:
        scope, seal = round_.question.place.scope, self._seals[round_.id]
        notes = seal_decision(round_, number, seal.notes.salt)
        last = next_link(self._heads.get(scope), scope, round_.id, notes.digest, origin)
        decisions = (*seal.decisions, DecisionSeal(notes.parts, last))
        self._heads[scope], self._seals[round_.id] = last, replace(seal, decisions=decisions)

    def _summary(self, round_: Round) -> RoundSummary:
        return replace(RoundSummary.of(round_), **self._flags.get(round_.id, {}))


def admits(wanted: RoundQuery, line: RoundSummary) -> bool:
    """Return whether the filter matches a round."""
    is_closed = line.seconds is not None
    return (
        wanted.containing.lower() in line.question.lower()
        and wanted.panel in {"", line.panel}
        and wanted.asked_by in {None, line.asked_by}
        and wanted.bakeoff in {None, line.bakeoff}
        and wanted.covers(line.place, line.asked_by)
        and not (wanted.since and line.asked_at < wanted.since)
        and not (wanted.before and line.asked_at >= wanted.before)
        and not (wanted.unfinished and (line.paused or is_closed))
        and not (wanted.undelivered and (line.delivered or line.bakeoff))
        and not (wanted.succeeded and (line.failed or not is_closed))
        and not (wanted.excludes_forgotten and line.forgotten)
    )


def has_outcome(wanted: RoundQuery, round_: Round) -> bool:
    """Return whether the filter's text and winner match a round."""
    texts = [round_.question.text, *(answer.text for answer in round_.answers)]
    texts += [round_.synthesis.text] if round_.synthesis else []
    lines = round_.tally.standings if round_.tally and round_.draw else ()
    first = [round_.draw.labels.author_of(x.label) for x in lines if round_.draw and x.place == 1]
    has_text = any(wanted.anywhere.lower() in text.lower() for text in texts)
    return has_text and wanted.winner in {"", *first}


def _put_newest(entries: dict[tuple[str, str], Entry], entry: Entry) -> None:
    """Store an entry of a person on a round unless their stored one is newer."""
    key = (entry.round_id, entry.by)
    entries[key] = max(entry, entries.get(key, entry), key=lambda entry: entry.at)


def _key(artefact: Artefact) -> tuple[object, ...]:
    """Return the key under which a round has one artefact at most."""
    names = ("member", "judge", "role", "audit", "pass_number", "kind", "seat", "subject")
    spoiled = artefact.paper.attempt if isinstance(artefact, SpoiledBallot) else None
    attempt = getattr(artefact, "attempt", spoiled)
    return (type(artefact), attempt, *(getattr(artefact, name, None) for name in names))
