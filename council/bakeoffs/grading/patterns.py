"""Regular expressions of people's own: searched for under a deadline, since some never end."""

import regex

MOST_CHARACTERS = 500
SECONDS = 0.1


def fault_in_pattern(pattern: str) -> str:
    """Give what is wrong with a pattern; nothing where it can be used."""
    if len(pattern) > MOST_CHARACTERS:
        return f"it has {len(pattern):,} characters, and at most {MOST_CHARACTERS} are taken"
    try:
        regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError, MemoryError) as error:
        return str(error) or "it is too deep"
    return ""


def matches(pattern: str, text: str) -> bool:
    """Say whether a pattern is found in a text; not, where that takes too long to say."""
    if fault_in_pattern(pattern):
        return False
    try:
        return regex.search(pattern, text, timeout=SECONDS) is not None
    except TimeoutError:
        return False
