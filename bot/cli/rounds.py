"""The commands for rounds: `council ask`, `show`, `rounds` and `budget`."""

import asyncio
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bot.admission import admit_round
from bot.bootstrap import StartOptions, open_app, open_stores
from bot.chat import Asker, Attachment, IncomingMessage
from bot.cli.completion import complete
from bot.cli.output import (
    FAILED,
    MISUSED,
    Json,
    Local,
    async_command,
    fail,
    print_json,
    print_post,
    print_posts,
)
from bot.cli.progress import DownloadBar
from bot.commands import voting
from bot.commands.ask import AskOptions, acceptance_post, new_round
from bot.commands.decide import decide_command
from bot.commands.parameters import LAST, Kind
from bot.commands.round_delivery import follow_and_deliver
from bot.context import AppContext
from bot.observability import logs
from bot.render.budgets import budget_document, budget_post
from bot.render.people import named_question, named_round
from bot.render.round_json import round_document, summary_document
from bot.render.round_report.thread import round_state, whole_round
from bot.render.voting import add_votes, takes_blind_votes, voting_posts
from bot.settings import load_settings
from bot.terminal import TERMINAL, TerminalChat, new_session_place
from council.budget_caps import Account, channel_account
from council.errors import CouncilError, StoreError
from council.files import MAX_TOTAL_BYTES
from council.integrity.erasure import check_not_forgotten
from council.ports import Store
from council.rounds import Round, Stage

TERMINAL_USER = Asker("terminal", "you")
RoundId = Annotated[
    str,
    typer.Argument(
        help="“last”, a round's id, or the start of one.", autocompletion=complete(Kind.ROUND)
    ),
]


# Typer reads its options off the parameters, so there are as many as there are options.
@async_command
async def ask(  # noqa: PLR0913, PLR0917
    question: Annotated[str, typer.Argument(help="The question.", show_default=False)] = "",
    panel: Annotated[
        str | None, typer.Option(help="A panel, by name.", autocompletion=complete(Kind.PANEL))
    ] = None,
    method: Annotated[str | None, typer.Option(help="The judging method.")] = None,
    seed: Annotated[
        str | None, typer.Option(help="Any text; the same seed gives the same labels and orders.")
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(help="Resume a round that stopped.", autocompletion=complete(Kind.ROUND)),
    ] = None,
    local: Local = False,
    files: Annotated[
        list[Path] | None,
        typer.Option("--file", help="A file for the question: text, PDF or image; repeatable."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Ask a question, or resume a round that stopped."""
    if bool(question) == bool(resume):
        fail('Give a question, as in: council ask "Why is the sky blue?"', MISUSED)

    logs.configure_logging()
    start = StartOptions(local, DownloadBar(Console(stderr=True)).show)
    async with open_app(load_settings(), start) as app:
        if resume:
            round_ = await app.store.load(await find_round_id(app.store, resume))
            check_not_forgotten(round_)
        else:
            message = IncomingMessage(question, TERMINAL_USER, TERMINAL, app.new_id())
            message = replace(message, files=tuple(map(open_attachment, files or ())))
            round_ = await new_round(app, message, AskOptions(panel, method, seed))
            await admit_round(app, round_)
        closed = await _follow(app, round_, quiet=as_json)
    if as_json:
        print_json(round_document(closed))
    if closed.closing is None or closed.closing.failure is not None:
        raise typer.Exit(FAILED)


async def find_round_id(store: Store, start: str) -> str:
    """Return the id of the last round for "last", else the one that starts with `start`."""
    if start == LAST and (lines := await store.list_summaries(1)):
        return lines[0].id
    return await store.find(start)


def open_attachment(path: Path) -> Attachment:
    """Return a file of this machine as an attachment; raise CouncilError if it can't be read."""
    try:
        if not path.is_file() and path.exists():
            raise CouncilError(f"{path} is not a file.")
        with path.open("rb") as opened:
            content = opened.read(MAX_TOTAL_BYTES + 1)
    except OSError as error:
        raise CouncilError(f"{path} can't be opened: {error.strerror}.") from None
    return Attachment.of(path.name, content)


@async_command
async def show(round_id: RoundId, as_json: Json = False) -> None:
    """Show a stored round."""
    async with open_stores(load_settings()) as stores:
        round_ = await stores.store.load(await find_round_id(stores.store, round_id))
        votes = await stores.store.votes(round_.id)
    if as_json:
        print_json(round_document(round_))
        return
    named = named_round(round_)
    thread = whole_round(named)
    replies = voting_posts(named) if takes_blind_votes(round_) else thread.replies
    print_posts((add_votes(thread.root, named, votes), *replies))
    if round_.stage is not Stage.CLOSED and not round_.forgotten:
        typer.echo(f"Not finished. Resume with: council ask --resume {round_.id}")


@async_command
async def vote(
    round_id: RoundId,
    answer: Annotated[
        list[str] | None,
        typer.Argument(help="The best answer's letter, or an order: K M L.", show_default=False),
    ] = None,
) -> None:
    """Vote for the best answer, or read the answers without names while the judges vote."""
    asked = {"round": round_id} | ({"answer": " ".join(answer)} if answer else {})
    async with open_app(load_settings()) as app:
        message = IncomingMessage("", TERMINAL_USER, TERMINAL, "")
        await voting.vote(app, TerminalChat(Console(highlight=False)), message, asked)


@async_command
async def decide(
    round_id: RoundId,
    choices: Annotated[
        list[str] | None,
        typer.Argument(
            help="What holds: 1=A decides the first disputed point. Without any, see the points.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Decide what the answers contradict each other on; the chairman writes once more."""
    asked = {"round": round_id} | ({"choices": " ".join(choices)} if choices else {})
    logs.configure_logging()
    async with open_app(load_settings()) as app:
        message = IncomingMessage("", TERMINAL_USER, TERMINAL, app.new_id())
        chat = TerminalChat(Console(quiet=as_json, highlight=False))
        await decide_command(app, chat, message, asked)
        round_ = await app.store.load(await find_round_id(app.store, round_id))
    if as_json:
        print_json(round_document(round_))


@async_command
async def rounds(as_json: Json = False) -> None:
    """List stored rounds, newest first."""
    async with open_stores(load_settings()) as stores:
        summaries = await stores.store.list_summaries()
    if as_json:
        print_json([summary_document(summary) for summary in summaries])
        return
    if not summaries:
        typer.echo('No rounds yet. Ask a question with: council ask "Why is the sky blue?"')
    for summary in summaries:
        asked = f"{summary.asked_at:%Y-%m-%d %H:%M}"
        question = " ".join(named_question(summary).split())[:50]
        typer.echo(f"{summary.id}  {asked}  {round_state(summary):10}  {question}".rstrip())


@async_command
async def budget(as_json: Json = False) -> None:
    """Show what is spent, reserved and left."""
    async with open_app(load_settings()) as app:
        today = app.now().astimezone(UTC).date()
        account = Account("", today, TERMINAL_USER.id, channel_account(TERMINAL))
        used = await app.budget.ledger.usage(account)
        caps = app.budget.caps
    if as_json:
        print_json(budget_document(today, caps, used))
    else:
        print_post(budget_post(caps, used))


async def _follow(app: AppContext, round_: Round, *, quiet: bool) -> Round:
    chat = TerminalChat(Console(quiet=quiet, highlight=False))
    message = IncomingMessage(round_.question.text, TERMINAL_USER, new_session_place(), round_.id)
    try:
        await chat.send_ephemeral(message, await acceptance_post(app, round_))
        return await follow_and_deliver(app, chat, message.place, round_)
    except asyncio.CancelledError:
        chat.close()
        stopped = f"Stopped. Your progress is saved. Resume with: council ask --resume {round_.id}"
        typer.echo(stopped, err=True)
        raise
    except StoreError as error:
        raise StoreError(f"{error} Resume with: council ask --resume {round_.id}") from error
    finally:
        chat.close()
