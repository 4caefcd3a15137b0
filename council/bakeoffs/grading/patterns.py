"""Regular expressions of people's own: searched for under a deadline, since some never end."""

import re
from math import prod

import regex

MOST_CHARACTERS = 500
MOST_REPEATS = 20_000  # each is a node in memory, half a kilobyte large
SECONDS = 0.1
_COUNT = re.compile(r"\{\s*([0-9]*)\s*(?:,\s*([0-9]*)\s*)?\}")


def fault_in_pattern(pattern: str) -> str:
    """Give what is wrong with a pattern; nothing where it can be used."""
    if len(pattern) > MOST_CHARACTERS:
        return f"it has {len(pattern):,} characters, and at most {MOST_CHARACTERS} are taken"
    if _repeats(pattern) > MOST_REPEATS:
        return f"its counts multiply to more than {MOST_REPEATS:,}: write + or * instead"
    try:
        regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError) as error:
        return str(error) or "it is too deep"
    return ""


def _repeats(pattern: str) -> int:
    """Give how often the innermost part of a pattern may be copied: a{9} is a nine times over."""
    counts = (max(int(least or 1), int(most or 1), 1) for least, most in _COUNT.findall(pattern))
    return prod(counts)


def matches(pattern: str, text: str) -> bool:
    """Say whether a pattern is found in a text; not, where that takes too long to say."""
    if fault_in_pattern(pattern):
        return False
    try:
        return regex.search(pattern, text, timeout=SECONDS) is not None
    except TimeoutError:
        return False
