"""Which queue of a cluster a piece of work waits in: that of the chat it is told in.

Discord deals its servers out among so many connections, its shards; each shard has its own queues.
"""

from bot.ports import Work, Works
from council.errors import StoreError
from council.places import HOUSE, Place

SHOW, BAKEOFFS = "show", "bakeoffs"  # rounds shown where they were asked, bake-offs held
GATEWAY = "discord gateway"  # whose names are the shards, "K/N"
DISCORD, PAGE = "discord", "web"


def work_of(kind: str, place: Place, name: str, shards: int) -> Work:
    """Give the work that is told in a place; there are so many shards of Discord."""
    return Work(f"{kind} {teller_of(place, shards)}", name)


def teller_of(place: Place, shards: int) -> str:
    """Give who tells a place: a chat, one shard of Discord, or the page for all of the house."""
    if place.chat in HOUSE:
        return PAGE
    if place.chat == DISCORD:
        return f"{DISCORD} {shard_of(place.workspace, shards)}/{shards}"
    return place.chat


def shard_of(server: str, shards: int) -> int:
    """Give the shard that hears of a server; direct messages, which have none, go to the first."""
    return (int(server) >> 22) % shards if server.isdigit() else 0


async def seems_begun(works: Works, work: Work) -> bool:
    """Say whether a work is begun; as long as the database is away, nobody knows that it is not."""
    try:
        return await works.is_begun(work)
    except StoreError:
        return True
