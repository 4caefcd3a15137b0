"""What is stored: rounds shown and listed, and the schema."""

import typer
from rich.console import Console

from bot.books import opened_store
from bot.cli.outcome import say_json
from bot.render.round_json import document
from bot.render.round_report import report, state_of
from bot.settings import load_settings
from bot.terminal import dressed
from council.ports import RoundLine
from council.rounds import Stage
from storage.migrate import HEAD

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
    if round_.stage is not Stage.CLOSED and not round_.forgotten:
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
        typer.echo(f"{line.id}  {asked}  {state_of(line):9}  {question}".rstrip())


def _document(line: RoundLine) -> dict[str, str]:
    gone = {"forgotten": line.forgotten.isoformat()} if line.forgotten else {}
    return {
        "id": line.id,
        "question": line.question,
        "asked_at": line.asked_at.isoformat(),
        "stage": line.stage.value,
        **gone,
    }


async def upgrade_schema() -> None:
    """Bring the schema up to date and say what it was."""
    async with opened_store(load_settings()):
        typer.echo(f"The database is at schema {HEAD}.")
