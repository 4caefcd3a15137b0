"""What is stored: rounds shown, listed and verified, and the schema."""

from collections.abc import Callable

import typer
from rich.console import Console

from bot.cli.outcome import say_json
from bot.render.document import document
from bot.render.report import report
from bot.settings import load_settings
from bot.terminal.dress import dressed
from bot.wiring import opened_store
from council.errors import StoreError
from council.ports import RoundLine, Store
from council.rounds import Round, Stage
from council.verify import verify
from storage.schema import HEAD

QUESTION_LENGTH = 50


async def show_round(start: str, *, as_json: bool) -> None:
    """Print a round as it was posted, or its JSON."""
    async with opened_store(load_settings()) as store:
        round_ = await store.load(await store.find(start))
    if as_json:
        say_json(document(round_))
        return
    console = Console(highlight=False)
    thread = report(round_)
    for post in (thread.root, *thread.replies):
        console.print(dressed(post))
    if round_.stage is not Stage.CLOSED:
        console.print(f"Still at stage {round_.stage.value}: council ask --resume {round_.id}")


async def list_rounds(*, as_json: bool) -> None:
    """Print a line for each stored round."""
    async with opened_store(load_settings()) as store:
        lines = await store.recent()
    if as_json:
        say_json([_document(line) for line in lines])
        return
    for line in lines:
        asked = f"{line.asked_at:%Y-%m-%d %H:%M}"
        question = " ".join(line.question.split())[:QUESTION_LENGTH]
        typer.echo(f"{line.id}  {asked}  {line.stage.value:8}  {question}")


def _document(line: RoundLine) -> dict[str, str]:
    return {
        "id": line.id,
        "question": line.question,
        "asked_at": line.asked_at.isoformat(),
        "stage": line.stage.value,
    }


async def verify_rounds(start: str | None, tell: Callable[[str], None]) -> None:
    """Verify one round, or all; `tell` hears the id of each that differs."""
    async with opened_store(load_settings()) as store:
        ids = [await store.find(start)] if start else [line.id for line in await store.recent()]
        for round_id in ids:
            if not await _verified(store, round_id):
                tell(round_id)
    if not ids:
        typer.echo("No round is stored.")


async def _verified(store: Store, round_id: str) -> bool:
    try:
        round_ = await store.load(round_id)
    except StoreError as error:
        typer.echo(str(error))
        return False
    differences = verify(round_)
    for difference in differences:
        typer.echo(f"Round {round_id} differs in {difference}")
    if not differences:
        typer.echo(f"Round {round_id}: {_extent(round_)}")
    return not differences


def _extent(round_: Round) -> str:
    if round_.draw is None:
        return "nothing to recompute"
    ranked = ", standings and verdict too" if round_.tally else ""
    return f"label map, slates and ballots are as recomputed{ranked}"


async def upgrade_schema() -> None:
    """Bring the schema up to date and say what it was."""
    async with opened_store(load_settings()):
        typer.echo(f"The database is at schema {HEAD}.")
