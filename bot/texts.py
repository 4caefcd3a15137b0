"""What people write, as it reads, and how much of it is taken."""

import unicodedata

from council.prompt_injection import visible

MOST_CHARACTERS = 20_000  # of a question, with what it refers to
_KEPT = "\n\t"


def cleaned(text: str) -> str:
    """Give the text as it reads: plain line ends, nothing invisible, no white space around."""
    plain = visible(text.replace("\r\n", "\n").replace("\r", "\n"))
    return "".join(
        c for c in plain if c in _KEPT or unicodedata.category(c) not in {"Cc", "Cs"}
    ).strip()
