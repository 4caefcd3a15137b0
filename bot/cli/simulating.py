"""`council simulate`: what a panel of judges with known biases can tell, and what it cannot."""

from typing import Annotated

import typer

from bot.cli.outcome import run

Size = float | None


# Typer reads its options off the parameters, so there are as many as there are options.
def simulate(  # noqa: PLR0913, PLR0917
    members: Annotated[int, typer.Option(min=3, max=10, help="Members; each judges.")] = 5,
    rounds: Annotated[int, typer.Option(min=10, max=2_000, help="Rounds of a leaderboard.")] = 100,
    bias: Annotated[
        str, typer.Option(help="Begin with none, or strong: position 2, own 1, noise 1.8.")
    ] = "none",
    position: Annotated[
        Size, typer.Option(help="What the first slot gains over the last.", show_default=False)
    ] = None,
    letter: Annotated[
        Size, typer.Option(help="What the letter B gains.", show_default=False)
    ] = None,
    own: Annotated[
        Size, typer.Option(help="What the judge's own answer gains.", show_default=False)
    ] = None,
    family: Annotated[
        Size, typer.Option(help="What other answers of its maker gain.", show_default=False)
    ] = None,
    length: Annotated[
        Size, typer.Option(help="What one deviation of length gains.", show_default=False)
    ] = None,
    noise: Annotated[
        Size, typer.Option(help="What chance adds, its deviation; else 1.", show_default=False)
    ] = None,
    makers: Annotated[
        str, typer.Option(help="A letter a member, as AABCD: who shares one.", show_default=False)
    ] = "",
    trials: Annotated[int, typer.Option(min=100, max=100_000, help="Simulated rounds.")] = 2_000,
    seed: Annotated[str, typer.Option(help="Any text; the same gives the same.")] = "council",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Simulate judges with biases of chosen size, and see what their panel can tell.

    Sizes are in units of worth: the answers to one question differ by 1, their standard deviation.
    With a position of 2 the first slot gains twice that over the last one.
    """
    given = {"position": position, "letter": letter, "own": own, "family": family}
    given |= {"length": length, "noise": noise}
    from bot.cli.simulated import panel_of, show_simulation
    from council.research.power import Wish

    panel = panel_of(bias, given, makers or members)
    run(show_simulation(Wish(panel, trials, rounds, seed), as_json=as_json))
