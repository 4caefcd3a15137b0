"""How psycopg sends texts and reads them: with what Postgres cannot hold."""

from typing import TYPE_CHECKING

from psycopg.types.string import StrDumperUnknown, TextLoader

from storage.nul import given_back, kept

if TYPE_CHECKING:
    from psycopg.abc import Buffer
    from psycopg.adapt import AdaptersMap


class Kept(StrDumperUnknown):
    """Sends a text as Postgres can hold it."""

    def dump(self, obj: str) -> "Buffer | None":
        """Give the bytes to send."""
        return super().dump(kept(obj))


class GivenBack(TextLoader):
    """Reads a text as it was before it was sent."""

    def load(self, data: "Buffer") -> bytes | str:
        """Give the text; bytes where the database does not say how its letters are written."""
        found = super().load(data)
        return given_back(found) if isinstance(found, str) else found


def register(adapters: "AdaptersMap") -> None:
    """Have a connection send and read texts so."""
    adapters.register_dumper(str, Kept)
    for kind in ("text", "varchar"):
        adapters.register_loader(kind, GivenBack)
