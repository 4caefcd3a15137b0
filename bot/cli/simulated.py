"""A simulation on the command line: what is asked for, checked, and what it shows."""

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite

from bot.cli.outcome import MISUSED, fail, say_json
from bot.research.simulation_report import simulation_document, simulation_post
from council.errors import PanelError
from council.research.power import Wish, simulation
from council.research.simulated_judges import PRESETS, Biases, SimulatedPanel, a_panel_of

LARGEST = 100.0  # anything beyond is no different


def panel_of(bias: str, given: Mapping[str, float | None], makers: str | int) -> SimulatedPanel:
    """Give the panel that options mean: their makers, or how many members; a wrong one ends it.

    Sizes that are None are those of the preset.
    """
    members = makers if isinstance(makers, int) else len(makers)
    try:
        return a_panel_of(members, _biases(bias, given), "" if isinstance(makers, int) else makers)
    except PanelError as error:
        fail(str(error), MISUSED)


def _biases(bias: str, given: Mapping[str, float | None]) -> Biases:
    if bias not in PRESETS:
        fail(f"--bias is {' or '.join(PRESETS)}, not {bias!r}.", MISUSED)
    sizes = {name: size for name, size in given.items() if size is not None}
    for name, size in sizes.items():
        if not isfinite(size) or abs(size) > LARGEST:
            fail(f"--{name} is a number from −{LARGEST:g} to {LARGEST:g}.", MISUSED)
    if sizes.get("noise", 0.0) < 0:
        fail("--noise is a standard deviation: 0 or more.", MISUSED)
    return replace(PRESETS[bias], **sizes)


async def show_simulation(wish: Wish, *, as_json: bool) -> None:
    """Simulate, and print what was found as tables or as JSON."""
    found = simulation(wish)
    if as_json:
        say_json(simulation_document(found))
        return
    from rich.console import Console

    from bot.terminal import dressed

    Console(highlight=False).print(dressed(simulation_post(found)))
