"""What is left of texts that were removed: when, and digests that prove them to whoever has them.

Knows no round. A digest is SHA-256 over the salt and the text, both as UTF-8, so that
`printf %s "$SALT$TEXT" | sha256sum` gives it too.
"""

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

Digests = tuple[tuple[str, str], ...]  # of each text by its name


@dataclass(frozen=True, slots=True)
class Forgotten:
    """When texts were removed, and a digest of each by its name, salted once a round."""

    at: datetime
    salt: str
    digests: Digests = ()

    def names_of(self, text: str) -> tuple[str, ...]:
        """Name the removed texts that this one is, to the last sign; nothing for any other."""
        wanted = digest_of(self.salt, text)
        return tuple(name for name, digest in self.digests if digest == wanted)


def digest_of(salt: str, text: str) -> str:
    """Give a text's salted digest, in hexadecimal."""
    return sha256((salt + text).encode()).hexdigest()
