"""Claims: that no two processes of one machine carry the same round, or serve the same page.

A claim is a lock on one byte of a file beside the database. The system lets go of it when the
process dies, however it dies. The same process may claim twice.
"""

import os
from hashlib import sha256
from pathlib import Path

_OFFSET_BYTES = 7  # below the greatest offset a file can have


class FileClaims:
    """Claims of the processes that share one file; it must be opened nowhere else in a process."""

    def __init__(self, file: Path) -> None:
        self._descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def take(self, name: str) -> bool:
        """Take what nobody else has; give False if another process has it."""
        # Windows has no fcntl, and must still be able to import this package.
        import fcntl

        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _offset(name))
        except OSError:
            return False
        return True

    def take_all(self) -> bool:
        """Take everything there is; give False where another process has any of it."""
        import fcntl

        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def free(self, name: str) -> None:
        """Let go of it."""
        import fcntl

        fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, _offset(name))

    def close(self) -> None:
        """Let go of everything."""
        os.close(self._descriptor)


class NoClaims:
    """Everything may be taken: for stores that no other process can reach."""

    def take(self, name: str) -> bool:
        """Give True."""
        return True

    def free(self, name: str) -> None:
        """Do nothing."""


NO_CLAIMS = NoClaims()


def _offset(name: str) -> int:
    return int.from_bytes(sha256(name.encode()).digest()[:_OFFSET_BYTES])
