"""What every store agrees on when a round joins its chain: its salt, and where it comes from."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from council.integrity.hash_chain import ELSEWHERE
from council.integrity.seal import Seal
from council.rounds import Round

Salting = Callable[[], str]


def new_salt() -> str:
    """Give a salt for the digests of one round, as long as what follows it can be guessed."""
    return secrets.token_hex(16)


@dataclass(frozen=True, slots=True)
class Joining:
    """The salt of a round that joins its chain, and its origin as its link will say it."""

    salt: str
    origin: str = ""


def from_elsewhere(round_: Round, seal: Seal | None, salting: Salting) -> Joining:
    """Give how a round joins that closed elsewhere; digests it was given there keep their salt."""
    kept = round_.forgotten or (seal.notes if seal else None)
    origin = seal.link.hash if seal and seal.link else ELSEWHERE
    return Joining(kept.salt if kept else salting(), origin)
