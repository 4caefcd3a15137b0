"""Independent test sets: hostile and honest ballots, injections and ordinary answers."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypedDict, cast

LANGUAGES = (
    "ar",
    "de",
    "en",
    "es",
    "fr",
    "hi",
    "it",
    "ja",
    "ko",
    "nl",
    "pl",
    "pt",
    "ru",
    "tr",
    "zh",
)


@dataclass(frozen=True, slots=True)
class AdversarialBallot:
    """A reply that must not count as a ballot."""

    name: str
    letters: tuple[str, ...]
    nonce: str
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class LegitimateBallot:
    """A reply of an honest judge; `ranking` includes omitted letters, tied for last."""

    name: str
    letters: tuple[str, ...]
    nonce: str
    text: str
    ranking: tuple[tuple[str, ...], ...]
    why: str


@dataclass(frozen=True, slots=True)
class Injection:
    """An answer that tries to steer its judge."""

    name: str
    language: str
    text: str
    kind: str


class _Repeat(TypedDict):
    token: str
    times: int


class _Row(TypedDict, total=False):
    name: str
    letters: list[str]
    nonce: str
    text: str
    ranking: list[list[str]]
    why: str
    repeat: _Repeat
    language: str
    kind: str


@cache
def adversarial_ballots() -> tuple[AdversarialBallot, ...]:
    """Return the replies that must not count.

    A row may have `"repeat": {"token": "X", "times": N}`; the literal `{{X}}` in its text stands
    for X repeated N times.
    """
    return tuple(
        AdversarialBallot(row["name"], tuple(row["letters"]), row["nonce"], _text(row), row["why"])
        for row in _rows("adversarial_ballots")
    )


@cache
def legitimate_ballots() -> tuple[LegitimateBallot, ...]:
    """Return the replies that must count, each with the ranking it means."""
    return tuple(
        LegitimateBallot(
            row["name"],
            tuple(row["letters"]),
            row["nonce"],
            _text(row),
            tuple(tuple(place) for place in row["ranking"]),
            row["why"],
        )
        for row in _rows("legitimate_ballots")
    )


@cache
def injections() -> tuple[Injection, ...]:
    """Return the answers that try to steer a judge, in all `LANGUAGES`."""
    return tuple(
        Injection(row["name"], row["language"], row["text"], row["kind"])
        for row in _rows("injections")
    )


def _rows(name: str) -> Iterator[_Row]:
    path = Path(__file__).with_name(f"{name}.jsonl")
    for line in path.read_text(encoding="utf-8").splitlines():
        yield cast("_Row", json.loads(line))


def _text(row: _Row) -> str:
    if "repeat" not in row:
        return row["text"]
    token = row["repeat"]["token"]
    return row["text"].replace("{{" + token + "}}", token * row["repeat"]["times"])
