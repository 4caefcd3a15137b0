"""`council ask`: one round in the terminal."""

from typing import Annotated

import typer

from bot.cli.outcome import FAILED, MISUSED, fail, run


# Typer reads its options off the parameters, so there are as many as there are options.
def ask(  # noqa: PLR0913, PLR0917
    question: Annotated[str, typer.Argument(help="The question.", show_default=False)] = "",
    panel: Annotated[str | None, typer.Option(help="A panel of council.toml.")] = None,
    method: Annotated[str | None, typer.Option(help="A way of judging.")] = None,
    seed: Annotated[
        str | None, typer.Option(help="Any text; the same seed draws the same.")
    ] = None,
    resume: Annotated[str | None, typer.Option(help="Go on with a round that stopped.")] = None,
    local: Annotated[bool, typer.Option("--local", help="Use the demonstration models.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Put a question to the panel, or go on with a round."""
    if bool(question) == bool(resume):
        fail('Give a question, as in: council ask "Why is the sky blue?"', MISUSED)
    from bot.cli.rounds import Request, hold

    closed_well: list[bool] = []
    request = Request(question, panel, method, seed, resume, local, as_json)
    run(hold(request, closed_well.append))
    if closed_well != [True]:
        raise typer.Exit(FAILED)
