"""Calls on their way to providers: turns, pauses and breakers, so that none is hammered.

Knows addresses and time, and nothing of what is sent.
"""

from council.gateways.traffic.clock import Clock
from council.gateways.traffic.line import Asking, Line
from council.gateways.traffic.own import OwnTurnstile
from council.gateways.traffic.traffic import NOBODY, Address, Neighbours, Traffic

__all__ = ["NOBODY", "Address", "Asking", "Clock", "Line", "Neighbours", "OwnTurnstile", "Traffic"]
