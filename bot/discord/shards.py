"""Discord shards: the servers that one gateway connection serves, and the job queue of each."""

import re
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncEngine

from bot.ports import PlaceQueues
from bot.settings import Settings
from council.places import Place

CHAT = "discord"
GATEWAY = "discord gateway"  # the queue whose job names are the shards, "K/N"
_SHARD_NAME = re.compile(r"(\d{1,4})/(\d{1,4})")


@dataclass(frozen=True, slots=True)
class Shard:
    """The part of all servers that one gateway connection serves: `number` (from 0) among `of`."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @classmethod
    def read(cls, name: str) -> "Shard | None":
        """Parse "number/of"; return None for anything else."""
        match = _SHARD_NAME.fullmatch(name)
        if match is None or int(match[1]) >= int(match[2]):
            return None
        return cls(int(match[1]), int(match[2]))

    def serves(self, server: str) -> bool:
        """Return whether the shard serves a server; "" stands for direct messages."""
        return shard_for(server, self.of) == self.number


ONLY_SHARD = Shard(0, 1)  # the only shard


def shard_for(server: str, shards: int) -> int:
    """Return the shard that receives a server's events; direct messages go to the first."""
    return (int(server) >> 22) % shards if server.isdigit() else 0


@dataclass(slots=True)
class ShardQueues(PlaceQueues):
    """Job queues of Discord's places: one for each of the `shards` of the cluster."""

    chat: str = CHAT
    shards: int = 1

    def queue_for(self, place: Place) -> str:
        """Return the queue of the shard that serves a place."""
        return f"{CHAT} {shard_for(place.workspace, self.shards)}/{self.shards}"


def open_queues(_: AsyncEngine, __: Settings) -> tuple[object, ...]:
    """Return the names of job queues, one for each shard."""
    return (ShardQueues(),)
