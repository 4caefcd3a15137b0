"""How wide words are in a figure, near enough, whoever draws them: so that nothing is cut."""

from rich.cells import get_character_cell_size

_NARROW = frozenset("fijlrtI.,:;|!'()[] ")
_WIDE = frozenset("mwMW@%")


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """Give the width of a text in a size, rather too much than too little."""
    return sum(map(_share, text)) * size * (1.1 if bold else 1)


def _share(character: str) -> float:
    if get_character_cell_size(character) > 1 or character in _WIDE:
        return 1.0
    if character in _NARROW:
        return 0.42
    return 0.75 if character.isupper() else 0.64


def fitting(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """Give as much of a text as such a width takes, with … where it is cut."""
    if width_of(text, size, bold=bold) <= width:
        return text
    while text and width_of(f"{text}…", size, bold=bold) > width:
        text = text[:-1]
    return f"{text.rstrip()}…"
