"""Replies a judge might send: those that must spoil, and those that must be read exactly.

Knows no reader: the tables say what is right, not how to find out.
"""

from tests.council.ballot_cases.cases import ABC, NONCE, Legitimate, Torture
from tests.council.ballot_cases.legitimate import LEGITIMATE
from tests.council.ballot_cases.torture import TORTURE

__all__ = ["ABC", "LEGITIMATE", "NONCE", "TORTURE", "Legitimate", "Torture"]
