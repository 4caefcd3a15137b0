"""Command dispatcher: parse a message, find its command in the registry and run it.

A command's name counts only alone or followed by its own grammar; everything else is a question.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.access import check_admitted
from bot.chat import Caution, Chat, Heading, IncomingMessage, Note, Post, Table
from bot.commands.ask import ask
from bot.commands.bakeoffs import GRAMMAR as BAKEOFF
from bot.commands.bakeoffs import handle_bakeoff
from bot.commands.reports import BIAS_GRAMMAR as BIAS
from bot.commands.reports import GRAMMAR as BOARD
from bot.commands.reports import show_bias, show_leaderboard
from bot.commands.rounds import (
    cancel_round,
    forget_round_command,
    show_budget,
    show_panel,
    show_round,
    show_rounds,
    vote,
)
from bot.commands.schedules import GRAMMAR as SCHEDULE
from bot.commands.schedules import handle_schedule
from bot.commands.suites import GRAMMAR as SUITE
from bot.commands.suites import USAGE, handle_suite
from bot.context import AppContext
from bot.observability import logs
from council.errors import CouncilError

Handler = Callable[[Chat, IncomingMessage], Awaitable[None]]
Run = Callable[[AppContext, Chat, IncomingMessage, str], Awaitable[None]]

Takes = Literal["question", "panel", "round", "number", "topic", "words", "file"]

ALONE = ""
_ADDRESS = re.compile(r"\A\s*/council\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Command:
    """A command; `grammar` is the regular expression of what may follow its name.

    `takes` is the kind of input field that a chat shows for it: for a question, a panel, a round, a
    number, a topic, words as they would be typed, or such words with a file.
    """

    name: str
    usage: str
    summary: str
    run: Run
    grammar: str = ALONE
    takes: Takes | None = None


@dataclass(frozen=True, slots=True)
class Invocation:
    """A command and its argument."""

    command: Command
    argument: str


class Registry:
    """The registered commands; `ask` is the fallback."""

    def __init__(self, ask: Command, others: Sequence[Command]) -> None:
        self.commands = (ask, *others)
        self._ask = ask
        self._by_name = {command.name: command for command in self.commands}

    def read(self, text: str) -> Invocation:
        """Parse a text, with or without `/council` in front; `/council` alone is `help`."""
        words = _ADDRESS.sub("", text).strip()
        name, rest = (*words.split(None, 1), "")[:2] if words else ("help", "")
        command = self._by_name.get(name.lower())
        if command and re.fullmatch(command.grammar, rest.strip(), re.IGNORECASE | re.DOTALL):
            return Invocation(command, rest.strip())
        return Invocation(self._ask, words)


async def handle_message(app: AppContext, chat: Chat, message: IncomingMessage) -> None:
    """Run the command in a message; reply privately with a sentence if that fails."""
    await report_errors(chat, message, run_command(app, chat, message, COMMANDS.read(message.text)))


async def run_command(
    app: AppContext, chat: Chat, message: IncomingMessage, invocation: Invocation
) -> None:
    """Run a command; raise CouncilError if it fails or its author has no access."""
    if invocation.command is not HELP:
        check_admitted(app.access, message)
    await app.reload_picked_panel(message.place)
    await invocation.command.run(app, chat, message, invocation.argument)


async def report_errors(chat: Chat, message: IncomingMessage, action: Awaitable[None]) -> None:
    """Await an action; if it fails, reply privately to the message with a sentence."""
    try:
        await action
    except CouncilError as error:
        await chat.send_ephemeral(message, Post((Caution(str(error)),), str(error)))
    # The outermost handler: log a bug once, and reply without its details.
    except Exception as error:  # noqa: BLE001
        wrong = logs.log_unexpected_error("command_failed", error, key=message.key)
        line = f"{wrong} Nothing that was saved is lost."
        await chat.send_ephemeral(message, Post((Caution(line),), line))


# An id is hexadecimal, or a platform event's with colons: no word of a question looks like it.
_ID = r"[0-9a-f]{4,}|\S*[:@]\S*"
_ROUND = rf"last|{_ID}"


async def show_help(app: AppContext, chat: Chat, message: IncomingMessage, topic: str) -> None:
    """Show all commands, or how one command is used."""
    chosen = [c for c in COMMANDS.commands if topic.lower() in {"", c.name}]
    rows = tuple((command.usage, command.summary) for command in chosen)
    note = Note("Anything else after /council is a question. Answers are written by AI.")
    await chat.send_ephemeral(message, Post((Heading("Council"), Table(("Say", "To"), rows), note)))


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
    Command(
        "suite", USAGE, "keep lists of questions to compare models on", handle_suite, SUITE, "file"
    ),
    Command(
        "vote",
        "/council vote ROUND|last LABEL",
        "say which answer of a round is the best",
        vote,
        rf"(?:{_ROUND})\s+(?:response\s+)?[k-z]",
        "words",
    ),
    Command(
        "cancel", "/council cancel ROUND|last", "stop your round", cancel_round, _ROUND, "round"
    ),
    Command(
        "bakeoff",
        "/council bakeoff [SUITE]",
        "put a suite of questions to a panel, or list, show, cancel, resume one",
        handle_bakeoff,
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
        forget_round_command,
        _ID,
        "round",
    ),
    Command(
        "schedule",
        "/council schedule [add NAME …]",
        "have a suite run again and again: list, add, pause, resume, edit, remove, run",
        handle_schedule,
        SCHEDULE,
        "words",
    ),
)
_TOPICS = "|".join(["", "help", ASK.name, *(command.name for command in _OTHERS)])
HELP = Command("help", "/council help", "see this", show_help, _TOPICS, "topic")
COMMANDS = Registry(ASK, (HELP, *_OTHERS))
