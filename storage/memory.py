"""A round store in memory, for programs that keep their rounds no longer than they run."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from council.ballots import Ballot, SpoiledBallot
from council.errors import StoreError
from council.rounds import Artefact, Round, sort_by_panel
from storage.queries import MAX_PAST_ROUNDS, round_not_found
from storage.row_mapping import list_artefacts


class MemoryStore:
    """The rounds in a dictionary: what running them needs, as the store in a database does it."""

    def __init__(self) -> None:
        self._rounds: dict[str, Round] = {}

    async def open(self, round_: Round) -> bool:
        """Store a new round with all its artefacts; return False if its id is taken."""
        if round_.id in self._rounds:
            return False
        self._rounds[round_.id] = round_
        return True

    async def save(self, round_id: str, artefact: Artefact) -> None:
        """Store an artefact of a round once."""
        if round_id not in self._rounds:
            raise StoreError("The round this belongs to is not stored, or no longer.")
        round_ = self._rounds[round_id]
        if not round_.closing and _key(artefact) not in map(_key, list_artefacts(round_)):
            self._rounds[round_id] = round_.with_(artefact)

    async def load(self, round_id: str) -> Round:
        """Return a round in panel order; raise RoundNotFoundError."""
        if round_id not in self._rounds:
            raise round_not_found(round_id)
        return sort_by_panel(self._rounds[round_id])

    async def load_past_ballots(self, panel: str) -> tuple[Sequence[Ballot], ...]:
        """Return the counted ballots of a panel's last closed rounds, without exchanges."""
        own = (round_ for round_ in self._newest_first() if round_.panel.name == panel)
        counted = (
            tuple(replace(ballot, paper=None) for ballot in round_.ballots if ballot.counts)
            for round_ in islice((round_ for round_ in own if round_.closing), MAX_PAST_ROUNDS)
        )
        return tuple(filter(None, counted))

    def _newest_first(self) -> list[Round]:
        by_id = sorted(self._rounds.values(), key=lambda round_: round_.id)
        return sorted(by_id, key=lambda round_: round_.asked_at, reverse=True)


def _key(artefact: Artefact) -> tuple[object, ...]:
    """Return the key under which a round has one artefact at most."""
    names = ("member", "judge", "role", "audit")
    attempt = artefact.paper.attempt if isinstance(artefact, SpoiledBallot) else None
    return (type(artefact), attempt, *(getattr(artefact, name, None) for name in names))
