"""How a round reads whose texts are gone."""

from council.digests import Forgotten
from council.ports import RoundLine

GONE = "A forgotten question"


def state_of(line: RoundLine) -> str:
    """Give the word for where a stored round stands: its stage, or "forgotten"."""
    return "forgotten" if line.forgotten else line.stage.value


def forgotten_line(forgotten: Forgotten) -> str:
    """Say since when the texts are gone, and what is left."""
    return (
        f"What was asked and answered here was forgotten on {forgotten.at:%Y-%m-%d}. Who sat, how "
        "they were ranked and what it cost is kept."
    )
