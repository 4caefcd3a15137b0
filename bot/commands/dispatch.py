"""The registered commands."""

from collections.abc import Awaitable, Callable

from bot.access import admitted
from bot.chat import Caution, Chat, Heading, IncomingMessage, Note, Post, Table
from bot.commands.ask import ask
from bot.commands.bakeoffs import GRAMMAR as BAKEOFF
from bot.commands.bakeoffs import bakeoffs
from bot.commands.registry import Command, Invocation, Registry
from bot.commands.reports import BIAS_GRAMMAR as BIAS
from bot.commands.reports import GRAMMAR as BOARD
from bot.commands.reports import show_bias, show_leaderboard
from bot.commands.rounds import (
    cancel,
    forget,
    show_budget,
    show_panel,
    show_round,
    show_rounds,
    vote,
)
from bot.commands.schedules import GRAMMAR as _SCHEDULES
from bot.commands.schedules import schedule
from bot.commands.suites import GRAMMAR, USAGE, suite
from bot.context import AppContext
from bot.observability import logs
from council.errors import CouncilError

# --- The registered commands.

# An id is hexadecimal, or a platform event's with its colons: no word of a question looks so.
_ID = r"[0-9a-f]{4,}|\S*[:@]\S*"
_ROUND = rf"last|{_ID}"


async def show_help(app: AppContext, chat: Chat, said: IncomingMessage, topic: str) -> None:
    """Say what can be said, or how one command is used."""
    chosen = [c for c in COMMANDS.commands if topic.lower() in {"", c.name}]
    rows = tuple((command.usage, command.summary) for command in chosen)
    note = Note("Anything else after /council is a question. Answers are written by AI.")
    await chat.send_ephemeral(said, Post((Heading("Council"), Table(("Say", "To"), rows), note)))


_PANEL, _LIMIT = r"\S*", r"\d{0,3}"

ASK = Command("ask", "/council QUESTION", "put a question to the panel", ask, r".*", "question")
_OTHERS = (
    Command(
        "panel", "/council panel [NAME]", "see the panels, or pick one", show_panel, _PANEL, "panel"
    ),
    Command(
        "rounds", "/council rounds [N]", "list the newest rounds", show_rounds, _LIMIT, "number"
    ),
    Command("show", "/council show ROUND|last", "open a stored round", show_round, _ROUND, "round"),
    Command("suite", USAGE, "keep lists of questions to compare models on", suite, GRAMMAR, "file"),
    Command(
        "vote",
        "/council vote ROUND|last LABEL",
        "say which answer of a round is the best",
        vote,
        rf"(?:{_ROUND})\s+(?:response\s+)?[k-z]",
        "words",
    ),
    Command("cancel", "/council cancel ROUND|last", "stop your round", cancel, _ROUND, "round"),
    Command(
        "bakeoff",
        "/council bakeoff [SUITE]",
        "put a suite of questions to a panel, or list, show, cancel, resume one",
        bakeoffs,
        BAKEOFF,
        "words",
    ),
    Command("budget", "/council budget", "see what is spent and what is left", show_budget),
    Command(
        "leaderboard",
        "/council leaderboard [SUITE]",
        "see who does best over many rounds",
        show_leaderboard,
        BOARD,
        "words",
    ),
    Command(
        "bias",
        "/council bias [PANEL]",
        "see how biased the judges are, over many rounds",
        show_bias,
        BIAS,
        "words",
    ),
    Command(
        "forget",
        "/council forget ROUND",
        "remove what was said in your round",
        forget,
        _ID,
        "round",
    ),
    Command(
        "schedule",
        "/council schedule [add NAME …]",
        "have a suite run again and again: list, add, pause, resume, edit, remove, run",
        schedule,
        _SCHEDULES,
        "words",
    ),
)
_NAMES = "|".join(["", "help", ASK.name, *(command.name for command in _OTHERS)])
HELP = Command("help", "/council help", "see this", show_help, _NAMES, "topic")
COMMANDS = Registry(ASK, (HELP, *_OTHERS))


# --- From what somebody says to what is done, with every error told kindly.

Act = Callable[[Chat, IncomingMessage], Awaitable[None]]  # something done for the one who spoke


async def handle_message(app: AppContext, chat: Chat, said: IncomingMessage) -> None:
    """Do what was said; whatever goes wrong is told to the one who spoke, in a sentence."""
    await reporting_errors(chat, said, run_command(app, chat, said, COMMANDS.read(said.text)))


async def run_command(
    app: AppContext, chat: Chat, said: IncomingMessage, order: Invocation
) -> None:
    """Do what is wanted, where it may be; raises CouncilError otherwise."""
    if order.command is not HELP:
        admitted(app.access, said)
    await app.look_up(said.place)
    await order.command.run(app, chat, said, order.argument)


async def reporting_errors(chat: Chat, said: IncomingMessage, act: Awaitable[None]) -> None:
    """See an act through; whatever goes wrong is told to the one it was for, in a sentence."""
    try:
        await act
    except CouncilError as error:
        await chat.send_ephemeral(said, Post((Caution(str(error)),), str(error)))
    # The outermost handler: what nobody foresaw is logged once and told without its insides.
    except Exception as error:  # noqa: BLE001
        wrong = logs.unforeseen("command_failed", error, key=said.key)
        line = f"{wrong} Nothing that was saved is lost."
        await chat.send_ephemeral(said, Post((Caution(line),), line))
