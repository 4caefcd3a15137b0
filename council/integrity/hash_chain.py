"""The links of a chain: each holds the digest of a closed round and the hash of the link before.

A workspace has one chain, in the order its rounds closed. Knows no round and no store.
"""

from dataclasses import dataclass, fields, replace

from council.digests import json_digest

LINK_VERSION = 1  # of what is noted of a round, and of how a link is hashed
ELSEWHERE = "elsewhere"


@dataclass(frozen=True, slots=True)
class Link:
    """One closed round's place in its chain; the first has number 1 and no `previous`.

    `origin` is empty for a round that closed here. For one that was taken in from an export it is
    the hash of its link there, or "elsewhere" where it had none.
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
        """Whether the hash is that of what the link holds."""
        return self.hash == _hashed(self)


@dataclass(frozen=True, slots=True)
class StoredLink:
    """A link as it is stored, and whether its round still is."""

    link: Link
    has_round: bool = True


_HASHED = tuple(field.name for field in fields(Link) if field.name != "hash")


def appended(head: Link | None, scope: str, round_id: str, digest: str, origin: str = "") -> Link:
    """Give the link that comes after the head of a scope's chain; without a head, the first."""
    number, previous = (head.number + 1, head.hash) if head else (1, "")
    link = Link(scope, number, round_id, digest, previous, origin)
    return replace(link, hash=_hashed(link))


def _hashed(link: Link) -> str:
    """Give the SHA-256 over the canonical JSON of all a link holds but its hash."""
    return json_digest({name: getattr(link, name) for name in _HASHED})
