"""A record as it is stored: who the numbers are of, as JSON, and the numbers, as bytes."""

from datetime import datetime
from typing import NamedTuple


class Packed(NamedTuple):
    """A record as it is stored; `shape` names members and judges in the order of the numbers.

    `version` is that of what records hold.
    """

    round_id: str
    asked_at: datetime
    panel: str
    scope: str
    bakeoff: str
    number: int
    suite: str
    suite_version: str
    category: str
    shape: str
    numbers: bytes
    version: int
