"""A shard: the part of all servers that one connection to Discord hears of."""

import re
from dataclasses import dataclass

from bot.ports import shard_of

_NAME = re.compile(r"(\d{1,4})/(\d{1,4})")


@dataclass(frozen=True, slots=True)
class Shard:
    """The shard of this number, from 0 on, among so many."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @classmethod
    def read(cls, name: str) -> "Shard | None":
        """Read "K/N"; None for what is no shard."""
        found = _NAME.fullmatch(name)
        if found is None or int(found[1]) >= int(found[2]):
            return None
        return cls(int(found[1]), int(found[2]))

    def hears(self, server: str) -> bool:
        """Say whether it hears of a server; "" are direct messages."""
        return shard_of(server, self.of) == self.number


WHOLE = Shard(0, 1)  # all there is
