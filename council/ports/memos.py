"""Where a few words are kept that the chats need again, whichever process hears what comes next."""

from collections.abc import Mapping
from typing import Protocol


class Memos(Protocol):
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
