"""What plug-ins add to `council export`, `import` and `verify`; it also runs while they are off.

The hooks `on_export`, `on_import` and `on_verify` are the addresses of classes, or of functions,
that take the stores and return an Exporter, an Importer or a Verifier.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from typing import ClassVar

from bot.plugins import RecordSources
from council.rounds import Round
from storage.export import ExportedItem, ExportKind

OnFault = Callable[[str], None]


class Exporter:
    """Exports what a plug-in stores, and rounds in its own formats; each method may be left out.

    `formats` are the names for `council export --as`, each with what its lines are.
    """

    formats: ClassVar[Mapping[str, str]] = {}

    def __init__(self, stores: RecordSources) -> None:
        self.stores = stores

    async def list_items(self, since: datetime | None) -> AsyncIterator[ExportedItem]:
        """Yield all items, or those since a time."""
        none: tuple[ExportedItem, ...] = ()
        for item in none:
            yield item

    async def list_items_of_rounds(self, since: datetime | None) -> AsyncIterator[ExportedItem]:
        """Yield likewise the items that can be imported only after their rounds."""
        none: tuple[ExportedItem, ...] = ()
        for item in none:
            yield item

    async def dump_round(self, kind: str, round_id: str) -> str:
        """Return a round in one of its formats, as lines with line ends; "" for nothing."""
        raise NotImplementedError


class Importer:
    """Stores the items of an export that are of its `kinds`.

    `settings` are the kinds of texts in the key-value store that people chose: they are exported
    and imported without more.
    """

    kinds: ClassVar[tuple[ExportKind, ...]] = ()
    settings: ClassVar[tuple[str, ...]] = ()

    def __init__(self, stores: RecordSources) -> None:
        self.stores = stores

    async def store(self, item: ExportedItem) -> bool:
        """Store an item; return False if it was there already.

        Raise CouncilError if it can't be stored.
        """
        raise NotImplementedError

    async def finish(self, rounds: Sequence[Round]) -> None:
        """Handle forgotten rounds that were imported, some at a time, once everything is stored."""


class Verifier:
    """Verifies what a plug-in stores about rounds."""

    async def open(self) -> None:
        """Load what is to be verified."""

    async def verify(self, round_: Round, on_fault: OnFault) -> None:
        """Name each difference between a round and what is stored about it."""

    def report(self, on_fault: OnFault) -> str:
        """Name what belongs to no round; return a sentence about what matches, or ""."""
        return ""
