"""An in-memory outbox store."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from council.ports import Claim, SentPart


class MemoryOutbox:
    """The outbox store in dictionaries."""

    def __init__(self) -> None:
        self._claims: dict[str, Claim] = {}
        self._rounds: dict[str, str] = {}
        self.forgotten: set[str] = set()  # rounds

    async def claim(self, key: str, round_id: str, now: datetime) -> Claim:
        if key in self._claims:
            found = self._claims[key]
            return replace(found, age_seconds=(now - found.claimed_at).total_seconds())
        self._claims[key], self._rounds[key] = Claim(key, now), round_id
        return replace(self._claims[key], is_new=True)

    async def reclaim(self, claim: Claim, now: datetime) -> bool:
        found = self._claims[claim.key]
        if found.claimed_at != claim.claimed_at or found.message or claim.message:
            return False
        self._claims[claim.key] = Claim(claim.key, now)
        return True

    async def mark(self, key: str, message: str) -> None:
        if key in self._claims:
            self._claims[key] = replace(self._claims[key], message=message)

    async def find_message(self, key: str) -> str | None:
        claim = self._claims.get(key)
        return claim.message if claim else None

    async def find_key(self, start: str, message: str) -> str | None:
        for key, claim in self._claims.items():
            if key.startswith(start) and claim.message == message:
                return key
        return None

    async def list_forgotten(self, now: datetime) -> Sequence[SentPart]:
        settled = now - timedelta(minutes=1)
        return tuple(
            SentPart(key, self._rounds[key], claim.message)
            for key, claim in sorted(self._claims.items(), reverse=True)
            if self._rounds[key] in self.forgotten and (claim.message or claim.claimed_at < settled)
        )

    async def remove(self, key: str) -> None:
        self._claims.pop(key, None)
        self._rounds.pop(key, None)

    async def count_unmarked(self, older_seconds: float, now: datetime) -> int:
        since = now - timedelta(seconds=older_seconds)
        return sum(
            claim.message is None and claim.claimed_at < since for claim in self._claims.values()
        )

    def drop(self, round_id: str) -> None:
        for key in [key for key, of in self._rounds.items() if of == round_id]:
            del self._claims[key], self._rounds[key]
