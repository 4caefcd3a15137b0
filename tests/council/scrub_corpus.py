"""Texts in many languages that say who wrote them, and texts that only speak about models.

`tests/data/scrub` has a file a language. What is tuned on was looked at while the rules were made,
what is held out was not.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "data" / "scrub"
LANGUAGES = tuple(sorted(path.stem for path in FOLDER.glob("*.txt")))
# Languages that are spoken of together, since twelve texts of one say little.
GROUPS = {
    "Germanic": ("english", "german"),
    "Romance": ("french", "italian", "portuguese", "spanish"),
    "Slavic, Hungarian, Turkish": ("hungarian", "polish", "russian", "turkish"),
    "East Asian": ("chinese", "japanese", "korean"),
    "Arabic, Hindi": ("arabic", "hindi"),
}


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts of one language, or of several: signed by their author, and ordinary ones."""

    signed: tuple[str, ...]
    ordinary: tuple[str, ...]

    def __add__(self, other: "Texts") -> "Texts":
        return Texts(self.signed + other.signed, self.ordinary + other.ordinary)


def texts(half: str, *languages: str) -> Texts:
    """Return the texts of some languages, or of all; `half` is "tuned" or "held-out"."""
    found = Texts((), ())
    for language in languages or LANGUAGES:
        parts = _parts(language)
        found += Texts(parts[f"{half} signed"], parts[f"{half} ordinary"])
    return found


@cache
def _parts(language: str) -> dict[str, tuple[str, ...]]:
    """Return the texts under each heading in brackets, one a line, with \\n for its breaks."""
    parts: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in (FOLDER / f"{language}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(("[tuned ", "[held-out ")) and line.endswith("]"):
            lines = parts.setdefault(line[1:-1], [])
        elif line:
            lines.append(line.replace("\\n", "\n"))
    return {heading: tuple(lines) for heading, lines in parts.items()}
