"""The commands for rounds: `council ask`, `show`, `rounds` and `budget`."""

import asyncio
from dataclasses import dataclass
from datetime import UTC
from typing import Annotated

import typer
from rich.console import Console

from bot.bootstrap import StartOptions, open_app, open_store
from bot.chat import Asker, IncomingMessage
from bot.cli.output import FAILED, MISUSED, Json, fail, print_json, print_post, run
from bot.cli.progress import DownloadBar
from bot.commands.ask import acceptance_post
from bot.commands.round_delivery import follow_and_deliver
from bot.context import AppContext
from bot.observability import logs
from bot.render.budgets import budget_document, budget_post
from bot.render.round_json import round_document
from bot.render.round_report import round_state, round_thread
from bot.settings import load_settings
from bot.terminal import TERMINAL, TerminalChat, new_session_place, render_post
from council.budget_caps import Account, channel_account
from council.errors import StoreError
from council.integrity.erasure import check_not_forgotten
from council.ports import RoundSummary
from council.rounds import Question, Round, Stage

TERMINAL_USER = Asker("terminal", "you")
MAX_LISTED_QUESTION_LENGTH = 50
RoundId = Annotated[str, typer.Argument(help="A round's id, or its beginning.")]


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
    as_json: Json = False,
) -> None:
    """Put a question to the panel, or go on with a round."""
    if bool(question) == bool(resume):
        fail('Give a question, as in: council ask "Why is the sky blue?"', MISUSED)

    closed = run(_ask(AskOptions(question, panel, method, seed, resume, local, as_json)))
    if closed.closing is None or closed.closing.failure is not None:
        raise typer.Exit(FAILED)


def show(round_id: RoundId, as_json: Json = False) -> None:
    """Show a stored round."""
    run(_show_round(round_id, as_json=as_json))


def rounds(as_json: Json = False) -> None:
    """List the stored rounds, newest first."""
    run(_list_rounds(as_json=as_json))


def budget(as_json: Json = False) -> None:
    """Show what is spent, what is reserved for rounds under way, and what is left."""
    run(_show_budgets(as_json=as_json))


@dataclass(frozen=True, slots=True)
class AskOptions:
    """The options of `council ask`."""

    question: str
    panel: str | None
    method: str | None
    seed: str | None
    resume: str | None
    local: bool
    as_json: bool


async def _ask(options: AskOptions) -> Round:
    """Run or resume a round, print it, and return it."""
    logs.configure_logging()
    bar = DownloadBar(Console(stderr=True))
    async with open_app(load_settings(), StartOptions(options.local, bar.show)) as app:
        round_ = await _open_round(app, options)
        closed = await _follow(app, round_, quiet=options.as_json)
    if options.as_json:
        print_json(round_document(closed))
    return closed


async def _open_round(app: AppContext, options: AskOptions) -> Round:
    """Return the stored round to resume, or store a new one."""
    if options.resume:
        stopped = await app.store.load(await app.store.find(options.resume))
        check_not_forgotten(stopped)
        return stopped
    panel = app.panel(options.panel, TERMINAL, options.method)
    question = Question(options.question, TERMINAL_USER.id, place=TERMINAL)
    round_ = app.new_round(question, panel, options.seed, app.new_id())
    await app.open(round_)
    return round_


async def _follow(app: AppContext, round_: Round, *, quiet: bool) -> Round:
    """Run a round to its end and print it as it progresses, unless quiet."""
    chat = TerminalChat(Console(quiet=quiet, highlight=False))
    message = IncomingMessage(round_.question.text, TERMINAL_USER, new_session_place(), round_.id)
    try:
        await chat.send_ephemeral(message, await acceptance_post(app, round_))
        return await follow_and_deliver(app, chat, message.place, round_)
    except asyncio.CancelledError:
        chat.close()
        stopped = f"Stopped; what there is is kept. Go on with: council ask --resume {round_.id}"
        typer.echo(stopped, err=True)
        raise
    except StoreError as error:
        raise StoreError(f"{error} Go on with: council ask --resume {round_.id}") from error
    finally:
        chat.close()


async def _show_round(start: str, *, as_json: bool) -> None:
    """Print a round as it was posted, or its JSON."""
    async with open_store(load_settings()) as store:
        round_ = await store.load(await store.find(start))
    if as_json:
        print_json(round_document(round_))
        return
    console = Console(highlight=False)
    thread = round_thread(round_)
    for post in (thread.root, *thread.replies):
        console.print(render_post(post))
    if round_.stage is not Stage.CLOSED and not round_.forgotten:
        console.print(f"Still at stage {round_.stage.value}: council ask --resume {round_.id}")


async def _list_rounds(*, as_json: bool) -> None:
    """Print a line for each stored round, or their JSON."""
    async with open_store(load_settings()) as store:
        summaries = await store.list_summaries()
    if as_json:
        print_json([_summary_document(summary) for summary in summaries])
        return
    for summary in summaries:
        asked = f"{summary.asked_at:%Y-%m-%d %H:%M}"
        question = " ".join(summary.question.split())[:MAX_LISTED_QUESTION_LENGTH]
        typer.echo(f"{summary.id}  {asked}  {round_state(summary):9}  {question}".rstrip())


def _summary_document(summary: RoundSummary) -> dict[str, str]:
    forgotten = {"forgotten": summary.forgotten.isoformat()} if summary.forgotten else {}
    return {
        "id": summary.id,
        "question": summary.question,
        "asked_at": summary.asked_at.isoformat(),
        "stage": summary.stage.value,
        **forgotten,
    }


async def _show_budgets(*, as_json: bool) -> None:
    """Print the caps of the terminal and of the whole installation, or their JSON."""
    async with open_app(load_settings(), StartOptions()) as app:
        today = app.now().astimezone(UTC).date()
        account = Account("", today, TERMINAL_USER.id, channel_account(TERMINAL))
        used = await app.budget.ledger.usage(account)
        caps = app.budget.caps
    if as_json:
        print_json(budget_document(today, caps, used))
    else:
        print_post(budget_post(caps, used))
