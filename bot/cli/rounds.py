"""The commands for rounds: `council ask`, `show`, `rounds` and `budget`."""

import asyncio
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bot.admission import admit_round
from bot.bootstrap import StartOptions, open_app
from bot.chat import TERMINAL, TERMINAL_USER, Attachment, IncomingMessage, Post
from bot.cli.completion import complete
from bot.cli.output import (
    FAILED,
    MISUSED,
    Full,
    Json,
    Local,
    Since,
    async_command,
    fail,
    print_json,
    print_note,
    print_post,
    print_posts,
    print_rows,
    shell_post,
    text_option,
)
from bot.cli.progress import DownloadBar
from bot.commands import voting
from bot.commands.ask import AskOptions, acceptance_post, new_round
from bot.commands.buttons import ANSWERS, BALLOTS, RESULTS, answer_or_ballot_posts
from bot.commands.decide import decide_command
from bot.commands.parameters import LAST, Kind
from bot.commands.round_delivery import follow_and_deliver
from bot.context import AppContext
from bot.coordination.clock import now, parse_moment
from bot.database import open_stores
from bot.observability import logs
from bot.render.budgets import budget_document, budget_post
from bot.render.formatting import join_words, money, panel_seat_names
from bot.render.people import named_question, named_round
from bot.render.round_json import round_document, summary_document
from bot.render.round_report.thread import brief_post, round_state, whole_round
from bot.render.round_report.verdict import short_verdict
from bot.render.text_safety import shorten, visible_line
from bot.render.voting import add_votes, takes_blind_votes, voting_posts
from bot.settings import load_panel_config, load_settings
from bot.terminal import TerminalChat, new_session_place, open_console, render_post
from council.budget_caps import Account, channel_account
from council.errors import CouncilError, StoreError
from council.files import MAX_TOTAL_BYTES
from council.integrity.erasure import check_not_forgotten
from council.ports import ALL_ROUNDS, RoundQuery, RoundSummary, Store
from council.rounds import Round, Stage

SHOWN_ROUNDS = 20
MAX_WINNER = 16  # columns
NO_ROUNDS = 'No rounds yet. Ask a question with: council ask "Why is the sky blue?"'
NO_MATCH = "No round matches. Leave out a filter; `council rounds` lists the newest."
PARTS = {"answers": ANSWERS, "rankings": BALLOTS, "details": RESULTS}  # of a round
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
        typer.Option(
            "--file",
            help="A file for the question: text, PDF or image; repeatable.",
        ),
    ] = None,
    full: Full = False,
    as_json: Json = False,
) -> None:
    """Ask a question, or resume a round that stopped."""
    if bool(question) == bool(resume):
        fail('Give a question, as in: council ask "Why is the sky blue?"', MISUSED)

    logs.configure_logging()
    start = StartOptions(local, DownloadBar(open_console(stderr=True)).show)
    async with open_app(load_settings(), start) as app:
        if resume:
            round_ = await app.store.load(await find_round_id(app.store, resume))
            check_not_forgotten(round_)
        else:
            message = IncomingMessage(question, TERMINAL_USER, TERMINAL, app.new_id())
            message = replace(message, files=tuple(map(open_attachment, files or ())))
            round_ = await new_round(app, message, AskOptions(panel, method, seed))
            await admit_round(app, round_)
        closed = await _follow(app, round_, open_console(quiet=as_json), full=full)
        # Before the app closes, which takes a moment where a model has not replied yet.
        if as_json:
            print_json(round_document(closed))
        elif not full:
            print_more(closed, LAST)
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
async def show(
    round_id: RoundId,
    part: Annotated[
        str, typer.Argument(help=f"One of {', '.join(PARTS)}.", show_default=False)
    ] = "",
    full: Full = False,
    as_json: Json = False,
) -> None:
    """Show the answer of a stored round, or another part of it."""
    if part and part not in PARTS:
        fail(f"There is no part {part!r}. Choose {join_words(PARTS)}.", MISUSED)
    async with open_stores(load_settings()) as stores:
        round_ = await stores.store.load(await find_round_id(stores.store, round_id))
        votes = await stores.store.votes(round_.id)
    if as_json:
        print_json(round_document(round_))
        return
    named = named_round(round_)
    if part:
        print_posts(answer_or_ballot_posts(named, PARTS[part]))
        return
    replies = whole_round(named).replies if full else ()
    replies = tuple(voting_posts(named)) if takes_blind_votes(round_) else replies
    print_posts((add_votes(brief_post(named, is_titled=True), named, votes), *replies))
    if not full:
        print_more(round_, round_id)
    if round_.stage is not Stage.CLOSED and not round_.forgotten:
        typer.echo(f"Not finished. Resume with: council ask --resume {round_.id}")


class ShellChat(TerminalChat):
    """A terminal in which commands are typed in the shell, so hints begin with `council`."""

    async def send_ephemeral(self, said: IncomingMessage, post: Post) -> None:
        """Print a post."""
        await super().send_ephemeral(said, shell_post(post))


@async_command
async def vote(
    round_id: RoundId,
    answer: Annotated[
        list[str] | None,
        typer.Argument(
            help="The best answer's letter, or an order: K M L.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Vote for the best answer, or read the answers without names while the judges vote."""
    asked = {"round": round_id} | ({"answer": " ".join(answer)} if answer else {})
    async with open_app(load_settings()) as app:
        message = IncomingMessage("", TERMINAL_USER, TERMINAL, "")
        await voting.vote(app, ShellChat(open_console()), message, asked)


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
    """Decide disputed points; the chairman writes once more."""
    asked = {"round": round_id} | ({"choices": " ".join(choices)} if choices else {})
    logs.configure_logging()
    async with open_app(load_settings()) as app:
        message = IncomingMessage("", TERMINAL_USER, TERMINAL, app.new_id())
        chat = ShellChat(open_console(quiet=as_json))
        await decide_command(app, chat, message, asked)
        round_ = await app.store.load(await find_round_id(app.store, round_id))
    if as_json:
        print_json(round_document(round_))


# Typer reads its options off the parameters, so there are as many as there are options.
@async_command
async def rounds(  # noqa: PLR0913, PLR0917
    text: Annotated[
        str, typer.Argument(help="Words of the question or an answer.", show_default=False)
    ] = "",
    panel: Annotated[
        str, text_option(help="Only of this panel.", autocompletion=complete(Kind.PANEL))
    ] = "",
    winner: Annotated[str, text_option(help="Only those that this model won.")] = "",
    by: Annotated[str, text_option(help="Only of an asker: terminal, U024BE7LH.")] = "",
    since: Since = "",
    limit: Annotated[int, typer.Option(help="How many; 0 for all of them.")] = SHOWN_ROUNDS,
    as_json: Json = False,
) -> None:
    """List stored rounds, newest first; with --json all of them, unless you filter."""
    wanted = RoundQuery(
        anywhere=text,
        panel=panel,
        winner=_member_key(winner) if winner else "",
        asked_by=by or None,
        since=parse_moment(since, now()) if since else None,
    )
    limit = 0 if limit < 0 or (as_json and limit == SHOWN_ROUNDS) else limit
    async with open_stores(load_settings()) as stores:
        found = await stores.store.list_summaries(limit + 1 if limit else None, wanted)
        shown = found[:limit] if limit else found
        if as_json:
            print_json([summary_document(line) for line in shown])
            return
        rows = [await _round_row(stores.store, line) for line in shown]
    if not rows:
        typer.echo(NO_MATCH if wanted != ALL_ROUNDS else NO_ROUNDS)
        return
    print_rows(("Question", "Winner", "Lead", "Cost", "Asked", "Round"), rows)
    if len(found) > len(shown):
        print_note(f"The newest {limit}. --limit 0 lists all.")


def _member_key(name: str) -> str:
    """Return the key of a model that is named as in a panel of council.toml; else the name."""
    names = panel_seat_names(load_panel_config(load_settings().config_file).panels.values())
    return next((key for key, own in names.items() if own.casefold() == name.casefold()), name)


async def _round_row(store: Store, line: RoundSummary) -> tuple[str, ...]:
    """Return a round's question, its winner and lead or its state, its cost, its day and its id."""
    question = visible_line(named_question(line)) or "(forgotten)"
    round_, state = await store.load(line.id), round_state(line)
    winner, certainty = short_verdict(round_) if state == "answered" else (state, "")
    lead = certainty.removesuffix(" lead")
    cost = "unknown" if round_.cost_usd is None else money(round_.cost_usd)
    return question, shorten(winner, MAX_WINNER), lead, cost, _day_or_time(line.asked_at), line.id


def _day_or_time(moment: datetime) -> str:
    """Return the local time of today, "14:02", or the day: "21 Nov", "2025-11-21"."""
    local, today = moment.astimezone(), now().astimezone()
    if local.date() == today.date():
        return f"{local:%H:%M}"
    return f"{local.day} {local:%b}" if local.year == today.year else f"{local:%Y-%m-%d}"


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


def print_more(round_: Round, name: str) -> None:
    """Print how to see the rest of a round that was ranked."""
    if round_.tally:
        print_note(f"More: council show {name} {'|'.join(PARTS)}")


async def _follow(app: AppContext, round_: Round, console: Console, *, full: bool) -> Round:
    """Run and print a round; only a terminal shows its progress, not a file or a program."""
    progress = console
    if not console.is_terminal:
        progress = open_console(stderr=True, quiet=console.quiet or not sys.stderr.isatty())
    chat = TerminalChat(console, progress, shows_all=full)
    message = IncomingMessage(round_.question.text, TERMINAL_USER, new_session_place(), round_.id)
    try:
        progress.print(render_post(await acceptance_post(app, round_)))
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
