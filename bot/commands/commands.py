"""The registered commands."""

from bot.chat import Chat, Heading, Note, Post, Said, Table
from bot.commands.asking import ask
from bot.commands.bakeoff_words import GRAMMAR as BAKEOFF
from bot.commands.bakeoffs import bakeoffs
from bot.commands.bias import GRAMMAR as BIAS
from bot.commands.bias import show_bias
from bot.commands.budget import show_budget
from bot.commands.cancelling import cancel
from bot.commands.desk import Desk
from bot.commands.forgetting import forget
from bot.commands.leaderboards import GRAMMAR as BOARD
from bot.commands.leaderboards import show_leaderboard
from bot.commands.looking import show_panel, show_round, show_rounds
from bot.commands.registry import Command, Registry
from bot.commands.schedules import GRAMMAR as _SCHEDULES
from bot.commands.schedules import schedule
from bot.commands.suites import GRAMMAR, USAGE, suite
from bot.commands.voting import vote

# An id is hexadecimal, or a platform event's with its colons: no word of a question looks so.
_ID = r"[0-9a-f]{4,}|\S*[:@]\S*"
_ROUND = rf"last|{_ID}"


async def show_help(desk: Desk, chat: Chat, said: Said, topic: str) -> None:
    """Say what can be said, or how one command is used."""
    chosen = [c for c in COMMANDS.commands if topic.lower() in {"", c.name}]
    rows = tuple((command.usage, command.summary) for command in chosen)
    note = Note("Anything else after /council is a question. Answers are written by AI.")
    await chat.whisper(said, Post((Heading("Council"), Table(("Say", "To"), rows), note)))


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
