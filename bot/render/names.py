"""What seats are called towards people."""

from collections import Counter
from collections.abc import Iterable

from council.panel import Panel
from council.rounds import Draw


def names_of(panel: Panel) -> dict[str, str]:
    """Give each seat's display name; seats that share one are told apart by their keys."""
    seats = {seat.key: seat.display for seat in (*panel.judges, *panel.chairmen)}
    shown = list(seats.values())
    return {
        key: name if shown.count(name) == 1 else f"{name} ({key})" for key, name in seats.items()
    }


def authors_of(panel: Panel, draw: Draw) -> dict[str, str]:
    """Give the display name behind each label."""
    names = names_of(panel)
    return {label: names[author] for author, label in draw.labels.pairs}


def file_name(round_id: str, kind: str) -> str:
    """Give a name for a file about a round that every system takes, whatever its id."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-._") else "-" for c in round_id)
    return f"council-{plain}.{kind}"


def known_names(panels: Iterable[Panel]) -> dict[str, str]:
    """Give the display name of every seat of these panels; no two seats have the same."""
    seats = (seat for panel in panels for seat in (*panel.judges, *panel.chairmen))
    known = {seat.key: seat.display for seat in seats}
    shown = Counter(known.values())
    return {key: name if shown[name] == 1 else f"{name} ({key})" for key, name in known.items()}
