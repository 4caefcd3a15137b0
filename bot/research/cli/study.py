"""The commands `council lab study`: run a study, verify it and print its report."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bot.bakeoffs.cli.bakeoffs import confirm_start
from bot.bootstrap import StartOptions, open_app
from bot.cli.output import (
    FAILED,
    MISUSED,
    Json,
    Local,
    async_command,
    exit_on_faults,
    fail,
    print_json,
)
from bot.cli.progress import CountBar, DownloadBar
from bot.context import AppContext
from bot.observability import logs
from bot.render.formatting import count_noun, max_cost_text
from bot.research import studies
from bot.research.study_files import Replies, StudyFile, StudyFolder, make_study, read_study_file
from bot.research.study_report import Document, report_markdown
from bot.settings import load_settings
from bot.settings.panels import load_plugins, registry_of
from council.errors import StudyError
from council.money import format_usd
from council.registry import Registry
from council.research.study import Study

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a study.")]

study_app = typer.Typer(
    help="Compare the council with its best member, and with fusion.",
    no_args_is_help=True,
)


# Typer reads its options off the parameters, so there are as many as there are options.
@study_app.command("run")
@async_command
async def run_study(
    file: Annotated[Path, typer.Argument(help="A TOML file that fixes the study.")],
    output: Annotated[Path, typer.Option(help="The folder for replies and result.")],
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the study in that folder.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Start without asking.")] = False,
    local: Local = False,
    as_json: Json = False,
) -> None:
    """Run a study, or resume it.

    Every paid reply is stored before it is used.
    """
    logs.configure_logging()
    folder, asked = StudyFolder(output), read_study_file(file)
    if folder.has_begun and not resume:
        fail(
            f"{output} has a study already. Continue it with --resume, or name another folder.",
            MISUSED,
        )
    console = Console(stderr=True, highlight=False)
    keys = tuple(key for key in asked.seats if not key.startswith(studies.LOCAL_PREFIX))
    start = StartOptions(local, DownloadBar(console).show, judges=keys)
    async with open_app(load_settings(), start) as app:
        with folder.locked():
            study, replies = await _open(app, folder, asked, console, yes=yes)
            stopped = await _follow(app, study, folder, replies, console)
            _, document = await studies.recompute(study, replies)
            folder.write_result(document)
    _print_report(document, as_json=as_json)
    if stopped or document["missing"]:
        fail(" ".join([stopped, *document["missing"]]).strip(), FAILED)


async def _open(
    app: AppContext, folder: StudyFolder, asked: StudyFile, console: Console, *, yes: bool
) -> tuple[Study, Replies]:
    """Return the study that the folder has or that begins now, once somebody has agreed."""
    replies = folder.read() if folder.has_begun else Replies()
    studies.check_unchanged(folder, asked, replies)
    if replies.header:
        studies.check_seats(app, asked, replies.header)
    header = replies.header or await studies.new_header(app, asked)
    study = make_study(asked, header, app.registry)
    cost = await studies.estimate_study(app, study)
    console.print(
        f"{study.name}: {count_noun(len(study.suite.questions), 'question')}, "
        f"{count_noun(len(study.panels), 'panel')}. The rounds alone: "
        f"{max_cost_text(cost.micro, cost.unknown)}. The cap is {format_usd(study.cap_micro)}. "
        f"{count_noun(len(replies.calls), 'reply')} stored.".replace("replys", "replies"),
        markup=False,
        soft_wrap=True,
    )
    confirm_start(yes=yes)
    if replies.header is None:
        replies = folder.begin(asked, header)
    return study, replies


async def _follow(
    app: AppContext, study: Study, folder: StudyFolder, replies: Replies, console: Console
) -> str:
    total = 2 * len(study.panels) * len(study.numbers)
    try:
        with CountBar(console, study.name, total) as bar:
            return await studies.complete_study(
                app, study, folder, replies, lambda _: bar.advance(1)
            )
    except asyncio.CancelledError:
        typer.echo("Stopped. Your progress is saved. Continue with --resume.", err=True)
        raise


@study_app.command()
@async_command
async def verify(folder: Folder) -> None:
    """Recompute a study from its stored replies, offline.

    Exits 1 if anything differs.
    """
    with exit_on_faults() as on_fault:
        faults, replies = await studies.verify_study(StudyFolder(folder), _registry())
        for fault in faults:
            on_fault(fault)
        if not faults:
            typer.echo(
                f"Verified: every number follows from the {len(replies.calls):,} stored replies. "
                f"Last digest: {replies.head}"
            )


@study_app.command()
@async_command
async def report(folder: Folder, as_json: Json = False) -> None:
    """Print a study's result as one page.

    It is recomputed from the stored replies.
    """
    found = StudyFolder(folder)
    replies = found.read()
    file = found.read_file()
    studies.check_unchanged(found, file, replies)
    if replies.header is None:
        raise StudyError(f"Nothing is stored in {folder} yet. Run the study first.")
    _, document = await studies.recompute(make_study(file, replies.header, _registry()), replies)
    _print_report(document, as_json=as_json)


def _registry() -> Registry:
    """Return what plug-ins add here, such as graders."""
    return registry_of(load_plugins(load_settings().config_file))


def _print_report(document: Document, *, as_json: bool) -> None:
    if as_json:
        print_json(document)
    else:
        typer.echo(report_markdown(document), nl=False)
