"""The command `council simulate`: what a panel of judges with known biases can tell."""

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from typing import Annotated

import typer

from bot.cli.output import MISUSED, Json, async_command, fail, print_json, print_post, text_option
from bot.research.simulation_report import simulation_document, simulation_post
from council.research.power import SimulationSettings, run_simulation
from council.research.simulated_judges import PRESETS, Biases, SimulatedPanel, uniform_panel

MAX_SIZE = 100.0  # anything beyond makes no difference
Size = float | None


# Typer reads its options off the parameters, so there are as many as there are options.
@async_command
async def simulate(  # noqa: PLR0913, PLR0917
    members: Annotated[
        int, typer.Option(min=3, max=10, help=("Number of models; each also judges."))
    ] = 5,
    rounds: Annotated[int, typer.Option(min=10, max=2_000, help="Rounds per leaderboard.")] = 100,
    bias: Annotated[
        str, typer.Option(help="Start with none, or strong: position 2, own 1, noise 1.8.")
    ] = "none",
    position: Annotated[
        Size, text_option(help=("How much the first position gains over the last."))
    ] = None,
    letter: Annotated[Size, text_option(help="How much the letter B gains.")] = None,
    own: Annotated[Size, text_option(help="How much a judge's own answer gains.")] = None,
    family: Annotated[Size, text_option(help="How much other answers by its maker gain.")] = None,
    length: Annotated[
        Size, text_option(help=("How much one standard deviation of length gains."))
    ] = None,
    noise: Annotated[
        Size, text_option(help=("The standard deviation of chance; 1 if left out."))
    ] = None,
    makers: Annotated[
        str,
        text_option(help="One letter per model, such as AABCD; the same letter is the same maker."),
    ] = "",
    trials: Annotated[
        int, typer.Option(min=100, max=100_000, help=("Number of simulated rounds."))
    ] = 2_000,
    seed: Annotated[
        str, typer.Option(help=("Any text; the same text gives the same results."))
    ] = "council",
    as_json: Json = False,
) -> None:
    """Simulate judges with known biases, and what they can tell.

    Sizes are in standard deviations of what the answers to one question are worth.
    With a position of 2, the first slot gains two of them over the last one.
    """
    given = {"position": position, "letter": letter, "own": own, "family": family}
    given |= {"length": length, "noise": noise}
    panel = simulated_panel(bias, given, makers or members)
    result = run_simulation(SimulationSettings(panel, trials, rounds, seed))
    if as_json:
        print_json(simulation_document(result))
    else:
        print_post(simulation_post(result))


def simulated_panel(
    bias: str, sizes: Mapping[str, float | None], makers: str | int
) -> SimulatedPanel:
    """Return the panel for a preset of biases, sizes that replace the preset's, and makers.

    `makers` is a letter for each member, or the number of members. Raise PanelError for a panel
    that cannot be simulated; exit with code 2 if another option is wrong.
    """
    biases = _biases(bias, sizes)
    if isinstance(makers, int):
        return uniform_panel(makers, biases)
    return uniform_panel(len(makers), biases, makers)


def _biases(bias: str, given: Mapping[str, float | None]) -> Biases:
    if bias not in PRESETS:
        fail(f"--bias must be {' or '.join(PRESETS)}, not {bias!r}.", MISUSED)
    sizes = {name: size for name, size in given.items() if size is not None}
    for name, size in sizes.items():
        if not isfinite(size) or abs(size) > MAX_SIZE:
            fail(f"--{name} must be a number from −{MAX_SIZE:g} to {MAX_SIZE:g}.", MISUSED)
    if sizes.get("noise", 0.0) < 0:
        fail("--noise must be 0 or more.", MISUSED)
    return replace(PRESETS[bias], **sizes)
