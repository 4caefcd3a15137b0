"""The numbers of a bake-off in a file, so that a later one elsewhere can be compared with them."""

import json
from array import array
from collections.abc import Mapping, Sequence
from datetime import datetime
from math import isnan
from pathlib import Path
from sys import byteorder
from typing import Any

from council.bakeoffs.models import Bakeoff
from council.bakeoffs.records import VERSION, Packed
from council.errors import CouncilError

_TEXTS = ("round_id", "panel", "scope", "bakeoff", "suite", "suite_version", "category", "shape")
ANEW = "make it anew with `council bakeoff run SUITE --save FILE`."


class BaselineError(CouncilError):
    """A file that nothing can be compared with."""


def record_document(record: Packed) -> dict[str, Any]:
    """Give a record as JSON has it; unknown numbers are null."""
    numbers = [None if isnan(number) else number for number in _floats(record.numbers)]
    texts = {name: getattr(record, name) for name in _TEXTS}
    at = record.asked_at.isoformat()
    own = {"asked_at": at, "number": record.number, "version": record.version}
    return {**texts, **own, "numbers": numbers}


def _floats(raw: bytes) -> "array[float]":
    """Give single-precision numbers, little end first, whatever the machine."""
    numbers = array("f")
    numbers.frombytes(raw)
    if byteorder == "big":
        numbers.byteswap()
    return numbers


def read_baseline(path: Path) -> tuple[Packed, ...]:
    """Give the records of a bake-off's document; BaselineError, with what to do, where none are."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BaselineError(f"{path} cannot be read ({error.strerror}): {ANEW}") from None
    except ValueError:
        raise BaselineError(f"{path} holds no JSON: {ANEW}") from None
    listed = document.get("records") if isinstance(document, dict) else None
    if not isinstance(listed, list) or not listed:
        raise BaselineError(f"{path} holds no records of a bake-off: {ANEW}")
    try:
        records = tuple(map(_record, listed))
    except (KeyError, TypeError, ValueError):
        raise BaselineError(f"{path} holds records that cannot be read: {ANEW}") from None
    if any(record.version != VERSION for record in records):
        raise BaselineError(f"{path} was written by another version of the council: {ANEW}")
    return records


def _record(document: Mapping[str, Any]) -> Packed:
    texts = {name: str(document[name]) for name in _TEXTS}
    given = [float("nan") if number is None else number for number in document["numbers"]]
    numbers = array("f", given)
    if byteorder == "big":
        numbers.byteswap()
    return Packed(
        asked_at=datetime.fromisoformat(document["asked_at"]),
        number=int(document["number"]),
        version=int(document["version"]),
        numbers=numbers.tobytes(),
        **texts,
    )


def check_comparable(records: Sequence[Packed], bakeoff: Bakeoff) -> None:
    """Raise BaselineError unless the records are of the same version of the suite."""
    versions = {record.suite_version for record in records}
    if versions != {bakeoff.suite.version}:
        raise BaselineError(
            f"The baseline is of version {', '.join(sorted(versions)) or 'none'} of suite "
            f"{records[0].suite}, and this bake-off of version {bakeoff.suite.version}: their "
            f"questions are not the same, so {ANEW}"
        )
