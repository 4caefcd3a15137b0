"""Named locks: of one process, of the processes on one file, and those of the cluster on top."""

import asyncio
import os
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from hashlib import sha256
from pathlib import Path

from bot.coordination.tasks import TryLock
from bot.ports import NamedLocks, RoundClaims


class LocalLocks:
    """Named asyncio locks, and the rounds admitted under each name; of the cluster if `shared`."""

    def __init__(self, shared: NamedLocks | None = None) -> None:
        self._shared = shared
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._admitted: dict[str, str] = {}

    @asynccontextmanager
    async def lock(self, *names: str) -> AsyncIterator[None]:
        """Hold the named locks for the duration of the block."""
        async with AsyncExitStack() as stack:
            for name in sorted(set(names)):  # always in the same order, so no two tasks deadlock
                await stack.enter_async_context(self._locks[name])
            if self._shared and names:
                await stack.enter_async_context(self._shared.lock(*names))
            yield

    async def admit(self, name: str, round_id: str) -> None:
        """Count a round under a name until it is dismissed."""
        if self._shared:
            await self._shared.admit(name, round_id)
        else:
            self._admitted[round_id] = name

    async def admitted(self, name: str) -> frozenset[str]:
        """Return the ids of the rounds that count under a name."""
        if self._shared:
            return await self._shared.admitted(name)
        return frozenset(id_ for id_, under in self._admitted.items() if under == name)

    def dismiss(self, round_id: str) -> None:
        """Stop counting a round."""
        self._admitted.pop(round_id, None)


class FileClaims:
    """Named locks of the processes that share a lock file; open it only once per process."""

    def __init__(self, file: Path) -> None:
        self._descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def take(self, name: str) -> bool:
        """Lock a name; return False if another process has it."""
        return self._lock(length=1, start=_offset(name))

    def take_all(self) -> bool:
        """Lock every name; return False if another process has any of them."""
        return self._lock(length=0, start=0)  # to the end of the file

    def _lock(self, length: int, start: int) -> bool:
        # Windows has no fcntl, and must still be able to import this package.
        import fcntl

        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, length, start)
        except OSError:
            return False
        return True

    def free(self, name: str) -> None:
        """Unlock a name."""
        import fcntl

        fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, _offset(name))

    def close(self) -> None:
        """Unlock every name."""
        os.close(self._descriptor)


def lock_file_claims(database_file: Path) -> FileClaims:
    """Return the claims of the processes that share an SQLite file."""
    return FileClaims(database_file.with_name(f"{database_file.name}.lock"))


def leader_lock(claims: RoundClaims | None) -> TryLock:
    """Return the leader lock of the processes that share claims; of one process without any."""

    @asynccontextmanager
    async def acquire(name: str) -> AsyncIterator[bool]:
        is_ours = claims is None or claims.take(name)
        try:
            yield is_ours
        finally:
            if claims and is_ours:
                claims.free(name)

    return acquire


def _offset(name: str) -> int:
    # Seven bytes stay below the largest offset of a file.
    return int.from_bytes(sha256(name.encode()).digest()[:7])
