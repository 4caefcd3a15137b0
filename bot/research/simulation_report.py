"""What a simulated panel can tell and what it cannot: as a post, and as a document."""

from dataclasses import asdict
from typing import Any

from bot.chat import Heading, Line, Note, Post, Table
from bot.render.leaderboard_tables import percent, signed
from council.research.power import LONGEST, BoardOutcome, Simulation, Way
from council.research.simulated_judges import Biases

_WAYS = ("Held as", "τ with the true order", "95 % interval", "Best first")
_CLAIMS = ("Held as", "Called clear", "Of these right", "Clear among equals")
_BOARDS = ("Worth more by", "Told", "Told wrongly", "Half are told after")
HOW = (
    "Worth and biases are in units of worth: the answers to one question differ by 1 (their "
    "standard deviation). Simulated judges err each for themselves; real ones err together, and "
    "tell less."
)


def simulation_post(found: Simulation) -> Post:
    """Give what was found, as tables with how to read them."""
    wish = found.wish
    members = len(wish.panel.makers)
    title = f"{members} members, {wish.trials:,} simulated rounds"
    numeric = frozenset({1, 2, 3})
    told = f"Leaderboards of {wish.rounds:,} rounds, a first member against the last one"
    parts = (
        Heading(title),
        Line(f"Every judge: {_said(wish.panel.biases[0])}. Makers: {' '.join(wish.panel.makers)}."),
        Table(_WAYS, tuple(map(_way, found.ways)), numeric),
        Table(_CLAIMS, tuple(map(_claims, found.ways)), numeric),
        Heading(told),
        Table(_BOARDS, tuple(map(_board, found.boards)), frozenset({0, *numeric})),
        Note(HOW),
    )
    return Post(parts, title)


def _said(biases: Biases) -> str:
    """Name what sways a judge: "position 2, noise 1.8"."""
    swayed = {name: size for name, size in asdict(biases).items() if size and name != "noise"}
    named = [f"{name} {size:g}" for name, size in swayed.items()] or ["no bias"]
    return ", ".join([*named, f"noise {biases.noise:g}"])


def _way(way: Way) -> tuple[str, ...]:
    low, high = way.tau_ci
    return (way.name, signed(way.tau), f"{signed(low)} to {signed(high)}", percent(way.best_first))


def _claims(way: Way) -> tuple[str, ...]:
    right = "" if way.clear_right is None else percent(way.clear_right)
    return (way.name, percent(way.clear), right, percent(way.clear_among_equals))


def _board(line: BoardOutcome) -> tuple[str, ...]:
    gap = f"{line.gap:g}" if line.gap else "nothing"
    if not line.gap:
        return (gap, "", percent(line.told + line.wrong), "")
    after = f"{line.rounds:,} rounds" if line.rounds else f"more than {LONGEST:,}"
    return (gap, percent(line.told), percent(line.wrong), after)


def simulation_document(found: Simulation) -> dict[str, Any]:
    """Give what was found for programs; what is not known is null."""
    panel = found.wish.panel
    return {
        "members": len(panel.makers),
        "makers": list(panel.makers),
        "biases": asdict(panel.biases[0]),
        "trials": found.wish.trials,
        "rounds": found.wish.rounds,
        "seed": found.wish.seed,
        "ways": [asdict(way) for way in found.ways],
        "boards": [_board_document(line) for line in found.boards],
    }


def _board_document(line: BoardOutcome) -> dict[str, Any]:
    """Give a gap's line; where there is none to tell, every claim is wrong."""
    if line.gap:
        return asdict(line)
    return {"gap": 0.0, "told": None, "wrong": line.told + line.wrong, "rounds": None}
