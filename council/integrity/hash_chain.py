"""Hash chain of a workspace: a link for each closed round, in the order of closing."""

from dataclasses import dataclass, fields, replace

from council.digests import json_digest

LINK_VERSION = 1  # of the digests of a round and of the hash of a link
FOREIGN_ORIGIN = "elsewhere"


@dataclass(frozen=True, slots=True)
class Link:
    """One link of a chain; the first has number 1 and an empty `previous`.

    `origin` is empty for a round that closed here. For an imported round it is the hash of its
    original link, or "elsewhere" if it had none.
    """

    scope: str
    number: int
    round_id: str
    digest: str
    previous: str
    origin: str = ""
    version: int = LINK_VERSION
    hash: str = ""

    @property
    def is_sound(self) -> bool:
        """Whether the hash matches the other fields."""
        return self.hash == _link_hash(self)


@dataclass(frozen=True, slots=True)
class StoredLink:
    """A link, and whether its round still exists."""

    link: Link
    has_round: bool = True


def next_link(head: Link | None, scope: str, round_id: str, digest: str, origin: str = "") -> Link:
    """Return the link after the head of a scope's chain, or the first link without a head."""
    number, previous = (head.number + 1, head.hash) if head else (1, "")
    link = Link(scope, number, round_id, digest, previous, origin)
    return replace(link, hash=_link_hash(link))


def _link_hash(link: Link) -> str:
    names = (field.name for field in fields(link) if field.name != "hash")
    return json_digest({name: getattr(link, name) for name in names})
