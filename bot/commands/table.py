"""Table of the core's commands; plug-ins add theirs (`Plugin.commands`)."""

from bot.commands import rounds, voting
from bot.commands.ask import ask
from bot.commands.buttons import forget_command
from bot.commands.dispatch import show_help
from bot.commands.parameters import Kind, Parameter, form_field, option
from bot.commands.registry import ASK, HELP, Command, CommandRegistry, collect_commands, with_value
from bot.plugins import Plugins
from council.methods import METHODS

PANEL = option("panel", "The panel of models to ask", Kind.PANEL)
ROUND = Parameter("round", "A round: “last”, its id, or the start of it", Kind.ROUND, required=True)
_TOPIC = Parameter("command", "A command", Kind.TOPIC)
_PICKED = Parameter("name", "The panel to use in this channel", Kind.PANEL)
_LIMIT = Parameter("limit", "How many", Kind.NUMBER)
_METHOD = option("method", f"How answers are judged: {', '.join(METHODS)}", Kind.METHOD)
_QUESTION = (
    PANEL,
    _METHOD,
    option("seed", "A text that fixes letters and orders"),
    Parameter("question", "Your question", Kind.TEXT, required=True),
    form_field("private", "Send the answer only to you", Kind.FLAG),
    form_field("attachment", "A text, PDF or image for the question", Kind.FILE),
)
_LETTER = Parameter("answer", "The letter of the best answer, or an order: K > M = L", Kind.LABEL)
_FORGET_NOW = Parameter("yes", "Delete it without asking first", Kind.FLAG, text_only=True)
CORE_COMMANDS = (
    Command(HELP, "See all commands, or how to use one", show_help, (_TOPIC,)),
    Command(ASK, "Ask the council", ask, _QUESTION),
    Command(
        "panel",
        "See the panels, or pick one for this channel",
        with_value("name", rounds.show_panel),
        (_PICKED,),
    ),
    Command("rounds", "List the newest rounds", with_value("limit", rounds.show_rounds), (_LIMIT,)),
    Command("show", "Open a round", with_value("round", rounds.show_round), (ROUND,)),
    Command("vote", "Say which answer of a round is the best", voting.vote, (ROUND, _LETTER)),
    Command("cancel", "Stop your round", with_value("round", rounds.cancel_round), (ROUND,)),
    Command("budget", "See what is spent and what is left", rounds.show_budget),
    Command(
        "forget",
        "Delete what was asked and answered in your round",
        forget_command,
        (ROUND, _FORGET_NOW),
    ),
    Command("no", "Change nothing", rounds.change_nothing, hidden=True),
)


def build_registry(plugins: Plugins) -> CommandRegistry:
    """Return the core's commands and those of active plug-ins."""
    return collect_commands(CORE_COMMANDS, plugins)
