"""Verification of the numbers behind leaderboards and bias reports: records and votes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from bot.bakeoffs.parts import bakeoff_stores
from bot.exports import OnFault, Verifier
from bot.plugins import RecordSources
from bot.render.formatting import count_noun
from council.bakeoffs.bias.number_verification import verify_record, verify_votes
from council.bakeoffs.models import Bakeoff
from council.bakeoffs.ports import BakeoffStore, BakeoffStores
from council.bakeoffs.records import PackedRecord
from council.errors import BakeoffError, CouncilError, StoreError
from council.integrity.verification import Difference
from council.methods import missing_rules
from council.rounds import Round

_Verify = Callable[[PackedRecord], Sequence[Difference]]

LEADERBOARDS, BIAS_REPORTS = "leaderboards", "bias reports"


@dataclass(slots=True)
class StoredNumbers:
    """The stored records and votes, by round; each is taken out as its round is verified."""

    bakeoffs: BakeoffStore
    records: dict[str, PackedRecord]
    votes: dict[str, PackedRecord]
    verified: int = 0
    has_faults: bool = False
    loaded: dict[str, Bakeoff | None] = field(default_factory=dict)

    async def verify(self, round_: Round, on_fault: OnFault) -> None:
        """Name each number of a round that differs from the round itself."""
        try:
            faults = [*self._faults(round_, await self._bakeoff(round_.bakeoff))]
        except StoreError as error:
            faults = [str(error)]
        for fault in faults:
            on_fault(fault)
        self.has_faults = self.has_faults or bool(faults)

    def report(self, on_fault: OnFault) -> str:
        """Name the numbers that belong to no round; return how many match, "" if some do not."""
        for where, left in ((LEADERBOARDS, self.records), (BIAS_REPORTS, self.votes)):
            for round_id in left:
                self.has_faults = True
                on_fault(f"{where.capitalize()} count round {round_id}, which can't be read")
        if self.has_faults or not self.verified:
            return ""
        rounds = count_noun(self.verified, "round")
        return f"Leaderboards and bias reports match the {rounds} that they count."

    def _faults(self, round_: Round, bakeoff: Bakeoff | None) -> Iterator[str]:
        record, votes = self.records.pop(round_.id, None), self.votes.pop(round_.id, None)
        if missing_rules(round_):  # `council verify` says so of the round itself
            self.has_faults = True
            return
        self.verified += bool(record or votes)
        checks: tuple[tuple[str, PackedRecord | None, _Verify], ...] = (
            (f"on {LEADERBOARDS}", record, lambda one: verify_record(one, round_, bakeoff)),
            (f"in {BIAS_REPORTS}", votes, lambda one: verify_votes(one, round_)),
        )
        for where, stored, verify in checks:
            if stored and not round_.closing:
                yield f"Round {round_.id} is counted {where}, but is not finished"
            elif stored:
                try:
                    differences = verify(stored)
                # A broken round must not keep the others from being verified.
                except Exception as error:  # noqa: BLE001
                    why = str(error) if isinstance(error, CouncilError) else repr(error)
                    yield f"Round {round_.id} {where}: its numbers cannot be recomputed. {why}"
                else:
                    yield from (f"Round {round_.id} differs {where} in {x}" for x in differences)

    async def _bakeoff(self, bakeoff_id: str) -> Bakeoff | None:
        """Return a bake-off, or None if it was deleted."""
        if bakeoff_id and bakeoff_id not in self.loaded:
            try:
                self.loaded[bakeoff_id] = await self.bakeoffs.load(bakeoff_id)
            except BakeoffError:
                self.loaded[bakeoff_id] = None
        return self.loaded.get(bakeoff_id)


async def load_numbers(stores: BakeoffStores) -> StoredNumbers:
    """Return every stored record and vote, ready to be verified."""
    records, votes = await stores.records.list_recent(), await stores.votes.list_recent()
    return StoredNumbers(
        stores.bakeoffs,
        {record.round_id: record for record in records},
        {vote.round_id: vote for vote in votes},
    )


class NumberVerifier(Verifier):
    """Verifies the numbers behind leaderboards and bias reports."""

    def __init__(self, stores: RecordSources) -> None:
        self._stores = bakeoff_stores(stores)
        self._numbers = StoredNumbers(self._stores.bakeoffs, {}, {})

    async def open(self) -> None:
        """Load the stored numbers."""
        self._numbers = await load_numbers(self._stores)

    async def verify(self, round_: Round, on_fault: OnFault) -> None:
        """Name each number of a round that differs from the round itself."""
        await self._numbers.verify(round_, on_fault)

    def report(self, on_fault: OnFault) -> str:
        """Name the numbers that belong to no round; return how many match."""
        return self._numbers.report(on_fault)
