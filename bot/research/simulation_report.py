"""Render a simulation: what a panel can find out, as a post and as a JSON document."""

from dataclasses import asdict
from typing import Any

from bot.bakeoffs.render.leaderboard_tables import percent, signed_number
from bot.chat import Heading, Line, Note, Post, Table
from council.research.power import MAX_BOARD_ROUNDS, BoardOutcome, DesignOutcome, Simulation
from council.research.simulated_judges import Biases

_DESIGN_TITLES = ("Held as", "τ with the true order", "95 % interval", "Best first")
_CLAIM_TITLES = ("Held as", "Called clear", "Of these right", "Clear among equals")
_BOARD_TITLES = ("Worth more by", "Told", "Told wrongly", "Half are told after")
LEGEND = (
    "Worth and biases are in units of worth: the answers to one question differ by 1 (their "
    "standard deviation). Simulated judges err each for themselves; real ones err together, and "
    "tell less."
)


def simulation_post(simulation: Simulation) -> Post:
    """Return the simulation as tables with a legend."""
    settings = simulation.settings
    members, biases = len(settings.panel.makers), _describe_biases(settings.panel.biases[0])
    title = f"{members} models, {settings.trials:,} simulated rounds"
    numeric = frozenset({1, 2, 3})
    boards_heading = (
        f"Leaderboards of {settings.rounds:,} rounds, a first model against the last one"
    )
    parts = (
        Heading(title),
        Line(f"Every judge: {biases}. Makers: {' '.join(settings.panel.makers)}."),
        Table(_DESIGN_TITLES, tuple(map(_design_row, simulation.ways)), numeric),
        Table(_CLAIM_TITLES, tuple(map(_claim_row, simulation.ways)), numeric),
        Heading(boards_heading),
        Table(_BOARD_TITLES, tuple(map(_board_row, simulation.boards)), frozenset({0, *numeric})),
        Note(LEGEND),
    )
    return Post(parts, title)


def _describe_biases(biases: Biases) -> str:
    """Return a judge's biases as a phrase: "position 2, noise 1.8"."""
    nonzero = {name: size for name, size in asdict(biases).items() if size and name != "noise"}
    phrases = [f"{name} {size:g}" for name, size in nonzero.items()] or ["no bias"]
    return ", ".join([*phrases, f"noise {biases.noise:g}"])


def _design_row(outcome: DesignOutcome) -> tuple[str, ...]:
    low, high = outcome.tau_ci
    return (
        outcome.name,
        signed_number(outcome.tau),
        f"{signed_number(low)} to {signed_number(high)}",
        percent(outcome.best_first),
    )


def _claim_row(outcome: DesignOutcome) -> tuple[str, ...]:
    right = "" if outcome.clear_right is None else percent(outcome.clear_right)
    return (outcome.name, percent(outcome.clear), right, percent(outcome.clear_among_equals))


def _board_row(outcome: BoardOutcome) -> tuple[str, ...]:
    gap = f"{outcome.gap:g}" if outcome.gap else "nothing"
    if not outcome.gap:
        return (gap, "", percent(outcome.told + outcome.wrong), "")
    after = f"{outcome.rounds:,} rounds" if outcome.rounds else f"more than {MAX_BOARD_ROUNDS:,}"
    return (gap, percent(outcome.told), percent(outcome.wrong), after)


def simulation_document(simulation: Simulation) -> dict[str, Any]:
    """Return the simulation for programs; unknown values are null."""
    panel = simulation.settings.panel
    return {
        "members": len(panel.makers),
        "makers": list(panel.makers),
        "biases": asdict(panel.biases[0]) | {"brand": 0.0},  # names are never shown
        "trials": simulation.settings.trials,
        "rounds": simulation.settings.rounds,
        "seed": simulation.settings.seed,
        "ways": [asdict(outcome) for outcome in simulation.ways],
        "boards": [_board_document(outcome) for outcome in simulation.boards],
    }


def _board_document(outcome: BoardOutcome) -> dict[str, Any]:
    """Return a gap's outcome; with a gap of 0 every claim is wrong."""
    if outcome.gap:
        return asdict(outcome)
    return {"gap": 0.0, "told": None, "wrong": outcome.told + outcome.wrong, "rounds": None}
