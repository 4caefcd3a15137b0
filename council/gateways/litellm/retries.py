"""How long to wait before another attempt.

A provider's Retry-After wins; without one the wait doubles, with full jitter, so that seats that
failed together do not come back together.
"""

import time
from collections.abc import Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

MOST_ATTEMPTS = 4
_FIRST_SECONDS = 0.5
_CAP_SECONDS = 8.0


def backoff_seconds(attempt: int, jitter: Callable[[], float]) -> float:
    """Give the wait after this attempt, the first being 1; `jitter` gives a share in 0…1."""
    return min(_CAP_SECONDS, _FIRST_SECONDS * 2.0 ** (attempt - 1)) * jitter()


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Read how long the provider asks to wait; None where it does not say, or not readably."""
    milliseconds = headers.get("retry-after-ms")
    return _seconds(milliseconds, 1000) if milliseconds else _seconds(headers.get("retry-after"))


def _seconds(text: str | None, divisor: int = 1) -> float | None:
    if not text:
        return None
    try:
        return max(0.0, float(text) / divisor)
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    # A date without a zone is UTC, as HTTP has it.
    utc = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, utc.timestamp() - time.time())
