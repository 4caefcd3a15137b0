"""`council ask`: one round in the terminal."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC
from typing import Annotated

import typer
from rich.console import Console

from bot.bootstrap import StartOptions, opened_app, opened_store
from bot.chat import Asker, IncomingMessage
from bot.cli.output import FAILED, MISUSED, fail, run, say_json
from bot.cli.serve import DownloadBar
from bot.commands.ask import accepted
from bot.commands.context import AppContext
from bot.commands.round_delivery import follow_and_deliver
from bot.observability import logs
from bot.render.budgets import budget_document, budget_post
from bot.render.round_json import document
from bot.render.round_report import report, state_of
from bot.settings import load_settings
from bot.terminal import HERE, TerminalChat, dressed, new_session
from council.budget_caps import Account, channel_of
from council.errors import StoreError
from council.integrity.erasure import check_remembered
from council.ports import RoundSummary
from council.rounds import Question, Round, Stage
from storage.migrate import HEAD

# --- `council ask`: one round in the terminal.


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

    closed_well: list[bool] = []
    request = Request(question, panel, method, seed, resume, local, as_json)
    run(hold(request, closed_well.append))
    if closed_well != [True]:
        raise typer.Exit(FAILED)


# --- One round from the command line, from the question to its report or its JSON.

YOU = Asker("terminal", "you")


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for on the command line."""

    question: str
    panel: str | None
    method: str | None
    seed: str | None
    resume: str | None
    local: bool
    as_json: bool


async def hold(request: Request, tell: Callable[[bool], None]) -> None:
    """Hold or resume the round and show it; `tell` hears whether it closed without a failure."""
    logs.set_up()
    bar = DownloadBar(Console(stderr=True))
    async with opened_app(load_settings(), StartOptions(request.local, bar.show)) as app:
        round_ = await _round(app, request)
        closed = await _seen_through(app, round_, quiet=request.as_json)
    if request.as_json:
        say_json(document(closed))
    tell(closed.closing is not None and closed.closing.failure is None)


async def _seen_through(app: AppContext, round_: Round, *, quiet: bool) -> Round:
    chat = TerminalChat(Console(quiet=quiet, highlight=False))
    said = IncomingMessage(round_.question.text, YOU, new_session(), round_.id)
    try:
        await chat.send_ephemeral(said, await accepted(app, round_))
        return await follow_and_deliver(app, chat, said.place, round_)
    except asyncio.CancelledError:
        chat.close()
        stopped = f"Stopped; what there is is kept. Go on with: council ask --resume {round_.id}"
        typer.echo(stopped, err=True)
        raise
    except StoreError as error:
        raise StoreError(f"{error} Go on with: council ask --resume {round_.id}") from error
    finally:
        chat.close()


async def _round(app: AppContext, request: Request) -> Round:
    """Give the stored round to resume, or a new one, stored."""
    if request.resume:
        stopped = await app.store.load(await app.store.find(request.resume))
        check_remembered(stopped)
        return stopped
    panel = app.panel(request.panel, HERE, request.method)
    question = Question(request.question, YOU.id, place=HERE)
    round_ = app.new_round(question, panel, request.seed, app.new_id())
    await app.open(round_)
    return round_


# --- What is stored: rounds shown and listed, and the schema.

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


def _document(line: RoundSummary) -> dict[str, str]:
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


# --- `council budget`: what is spent, what is reserved, and what is left.


async def show_budgets(*, as_json: bool) -> None:
    """Print the budgets of the terminal and of everybody, or their JSON."""
    async with opened_app(load_settings(), StartOptions()) as app:
        today = app.now().astimezone(UTC).date()
        used = await app.budget.ledger.used(Account("", today, YOU.id, channel_of(HERE)))
        caps = app.budget.caps
    if as_json:
        say_json(budget_document(today, caps, used))
    else:
        Console(highlight=False).print(dressed(budget_post(caps, used)))


# --- The commands that look at what is stored and how things stand.

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
RoundId = Annotated[str, typer.Argument(help="A round's id, or its beginning.")]


def show(round_id: RoundId, as_json: Json = False) -> None:
    """Show a stored round."""
    run(show_round(round_id, as_json=as_json))


def rounds(as_json: Json = False) -> None:
    """List the stored rounds, newest first."""
    run(list_rounds(as_json=as_json))


def budget(as_json: Json = False) -> None:
    """Show what is spent, what is reserved for rounds under way, and what is left."""
    run(show_budgets(as_json=as_json))


def doctor(
    live: Annotated[
        bool, typer.Option("--live", help="Spend one tiny call on each model.")
    ] = False,
) -> None:
    """Check settings, database and models."""
    from bot.cli.doctor import examine

    failed: list[str] = []
    run(examine(failed.append, live=live))
    if failed:
        raise typer.Exit(FAILED)
