"""A chain walked from its first link on, or a stretch of it.

Finds whatever was changed, taken out or put in between, and rounds that are gone. What was
rewritten up to the end agrees with itself: only a head that was written down before shows that.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from council.links import VERSION, KeptLink, Link


@dataclass(slots=True)
class Walk:
    """How far a chain was walked, the hash of its last link, and what was found on the way.

    `sought` are heads that were written down, `met` those of them up to which no link is at fault.
    A stretch begins behind a link of this number and hash, which are taken on trust.
    """

    scope: str
    length: int = 0
    head: str = ""
    sought: frozenset[str] = frozenset()
    met: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    is_broken: bool = False

    def past(self, held: KeptLink) -> None:
        """Go past the link that comes next by number."""
        link = held.link
        faults = [*self._out_of_place(link), *_unsound(link)]
        self.is_broken = self.is_broken or bool(faults)
        self.findings += faults
        if not held.has_round:
            self.findings.append(f"round {link.round_id!r} of link {link.number} was deleted")
        self.length, self.head = link.number, link.hash
        if link.hash in self.sought and not self.is_broken:
            self.met.append(link.hash)

    def _out_of_place(self, link: Link) -> Iterator[str]:
        due = self.length + 1
        if link.number < due:
            yield f"link {link.number} has no place in it"
        elif link.number == due + 1:
            yield f"link {due} is missing"
        elif link.number > due:
            yield f"links {due} to {link.number - 1} are missing"
        elif link.previous != self.head:
            yield f"link {due} does not follow what is before it"


def walked_in_part(links: Iterable[Link]) -> tuple[Walk, ...]:
    """Walk those links that there are, of any chains; what is not among them is taken on trust."""
    stretches: list[Walk] = []
    for link in sorted(links, key=lambda link: (link.scope, link.number)):
        last = stretches[-1] if stretches else None
        if last is None or (last.scope, last.length + 1) != (link.scope, link.number):
            last = Walk(link.scope, link.number - 1, link.previous)
            stretches.append(last)
        last.past(KeptLink(link))
    return tuple(stretches)


def chain_name(scope: str) -> str:
    """Give the name of a scope's chain: "the chain of slack/T1"."""
    return f"the chain of {scope or 'the house'}"


def _unsound(link: Link) -> Iterator[str]:
    if link.version != VERSION:
        yield f"link {link.number} was made by another version of the program"
    elif not link.is_sound:
        yield f"link {link.number} was changed"
