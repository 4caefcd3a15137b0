"""Moments on the command line."""

from datetime import UTC, datetime

from bot.cli.outcome import MISUSED, fail


def moment(text: str | None) -> datetime | None:
    """Give the moment of "2026-11-21" or "2026-11-21T09:00+01:00"; UTC where no zone is named."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        fail(f"{text!r} is no date: write it as 2026-11-21 or 2026-11-21T09:00.", MISUSED)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
