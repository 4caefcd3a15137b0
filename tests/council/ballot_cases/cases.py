"""Types of the ballot cases, and the nonces they share."""

import json
from dataclasses import dataclass

NONCE = "4f9c2b7d8e13a605"
OTHER_NONCE = "b81e07c6d2a9435f"
ABC = ("A", "B", "C")


@dataclass(frozen=True, slots=True)
class Torture:
    """A reply that must never count as a ballot."""

    id: str
    text: str
    letters: tuple[str, ...] = ABC


@dataclass(frozen=True, slots=True)
class Legitimate:
    """A reply that must be read exactly so; letters missing from the ranking are unranked."""

    id: str
    text: str
    ranking: tuple[tuple[str, ...], ...]
    # None: the case does not say which reason is read.
    reason: str | None = None
    letters: tuple[str, ...] = ABC


def ballot(ranking: object, *, nonce: object = NONCE, **more: object) -> str:
    """Write a ballot as a careful judge would: on one line, letters of every script as they are."""
    return json.dumps({"nonce": nonce, **more, "ranking": ranking}, ensure_ascii=False)
