"""Replies a judge might send: those that must spoil, and those that must be read exactly.

Knows no reader: the tables say what is right, not how to find out.
"""

from tests.council.ballot_cases.cases import ABC, NONCE, Legitimate, Torture
from tests.council.ballot_cases.held_out_legitimate import HELD_OUT_LEGITIMATE
from tests.council.ballot_cases.held_out_torture import HELD_OUT_TORTURE
from tests.council.ballot_cases.legitimate import LEGITIMATE
from tests.council.ballot_cases.torture import TORTURE

__all__ = [
    "ABC",
    "HELD_OUT_LEGITIMATE",
    "HELD_OUT_TORTURE",
    "LEGITIMATE",
    "NONCE",
    "TORTURE",
    "Legitimate",
    "Torture",
]
