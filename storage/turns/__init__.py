"""Turns at providers that all processes on one Postgres share."""

from storage.turns.turnstile import SqlTurnstile

__all__ = ["SqlTurnstile"]
