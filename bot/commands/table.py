"""Table of the core's commands; plug-ins add theirs (`Plugin.commands`)."""

from dataclasses import replace
from functools import partial

from bot.commands import about, rounds, settings, typed_buttons, voting
from bot.commands.ask import PRIVATE, ask
from bot.commands.buttons import ANSWERS, BALLOTS, RESULTS
from bot.commands.decide import CHOICES_PATTERN, decide_command
from bot.commands.dispatch import show_commands, show_help
from bot.commands.parameters import Kind, Parameter, form_field, option
from bot.commands.registry import (
    ASK,
    HELP,
    SETTINGS,
    Command,
    CommandRegistry,
    collect_commands,
    with_value,
)
from bot.plugins import Plugins
from council.files import MAX_FILES
from council.methods import METHODS

PANEL = option("panel", "The panel of models to ask", Kind.PANEL)
ROUND = Parameter("round", "A round: “last” (the newest), its id, or the start of it", Kind.ROUND)
_TOPIC = Parameter("command", "A command", Kind.TOPIC)
_PICKED = Parameter("name", "The panel to use in this channel", Kind.PANEL)
_LIMIT = Parameter("limit", "How many", Kind.NUMBER)
_METHOD = option("method", f"How answers are judged: {', '.join(METHODS)}", Kind.METHOD)
_QUESTION = (
    PANEL,
    _METHOD,
    option("seed", "A text that fixes letters and orders"),
    Parameter("question", "Your question", Kind.TEXT, required=True),
    form_field(PRIVATE, "Send the answer only to you", Kind.FLAG),
    form_field("attachment", "A text, PDF or image for the question", Kind.FILE),
    *(form_field(f"attachment{n}", "Another file", Kind.FILE) for n in range(2, MAX_FILES + 1)),
)
_LETTER = Parameter("answer", "The letter of the best answer, or an order: K > M = L", Kind.LABEL)
_CHOICES = Parameter(
    "choices",
    "What holds: 1=A decides the first disputed point",
    Kind.TEXT,
    pattern=CHOICES_PATTERN,
)
_FORGET_NOW = Parameter("yes", "Delete it without asking first", Kind.FLAG, text_only=True)
_AGAIN_NOW = Parameter("yes", "Ask without showing the cost first", Kind.FLAG, text_only=True)
_VIEWS = (
    (ANSWERS, "answers", "Read what each model answered", ("answer",)),
    (BALLOTS, "rankings", "See how each judge ranked the answers", ("ranking", "ballots")),
    (RESULTS, "results", "See which answers won", ("result", "winner", "who won", "details")),
)
_ON_ROUNDS = (
    Command(
        "rounds",
        "List the newest rounds",
        with_value("limit", rounds.show_rounds),
        (_LIMIT,),
        aliases=("history", "list", "status"),
    ),
    Command(
        "show", "Open a round", with_value("round", rounds.show_round), (ROUND,), aliases=("open",)
    ),
    *(
        Command(
            name,
            summary,
            with_value("round", partial(typed_buttons.show_view, what=what)),
            (ROUND,),
            aliases=aliases,
        )
        for what, name, summary, aliases in _VIEWS
    ),
    Command(
        "vote",
        "Say which answer of a round is the best",
        voting.vote,
        (ROUND, _LETTER),
        aliases=("read and vote",),
    ),
    Command(
        "decide",
        "Decide disputed points; you see the cost first",
        decide_command,
        (ROUND, _CHOICES),
    ),
    Command(
        "again",
        "Ask a round's question again; you see the cost first",
        typed_buttons.again_command,
        (ROUND, _AGAIN_NOW),
        aliases=("run again", "yes run again", "rerun", "retry"),
    ),
    Command(
        "cancel",
        "Stop your round",
        with_value("round", rounds.cancel_round),
        (ROUND,),
        aliases=("stop", "yes cancel it", "abort"),
    ),
    Command(
        "export",
        "Get a round as a file",
        with_value("round", typed_buttons.export_command),
        (ROUND,),
        aliases=("download",),
    ),
    Command(
        "forget",
        "Delete what was asked and answered in your round",
        typed_buttons.forget_command,
        (ROUND, _FORGET_NOW),
        aliases=("delete", "remove", "erase"),
    ),
)
# Words of buttons, and words that people try.
_UNLISTED = (
    Command("resume", "Resume your stopped round", typed_buttons.resume_command),
    Command(
        "reveal",
        "Show who wrote what, after people voted",
        with_value("round", typed_buttons.reveal_command),
        (ROUND,),
    ),
    *(
        Command(
            name,
            summary,
            with_value("round", partial(typed_buttons.rate_command, helpful=helpful)),
            (ROUND,),
            aliases=aliases,
        )
        for name, summary, helpful, aliases in (
            ("helpful", "Say that an answer helped", True, ()),
            ("unhelpful", "Say that an answer did not help", False, ("not helpful",)),
        )
    ),
    Command(
        "new",
        "Start a new conversation",
        typed_buttons.new_question,
        aliases=("new question", "new conversation"),
    ),
    Command("commands", "See all commands", show_commands, aliases=("all commands", "more")),
    Command("version", "See the version", about.show_version),
    Command("privacy", "See who receives what you ask", about.show_privacy),
    Command("feedback", "See how to rate an answer", about.show_feedback),
    Command("no", "Change nothing", rounds.change_nothing, aliases=("keep it",)),
)
CORE_COMMANDS = (
    Command(HELP, "See all commands, or how to use one", show_help, (_TOPIC,), aliases=("about",)),
    Command(ASK, "Ask the council", ask, _QUESTION),
    Command(
        "panel",
        "See the panels, or pick one for this channel",
        with_value("name", rounds.show_panel),
        (_PICKED,),
        aliases=("panels", "models"),
    ),
    *_ON_ROUNDS,
    Command(
        "budget",
        "See what is spent and what is left",
        rounds.show_budget,
        aliases=("cost", "costs", "price", "usage"),
    ),
    Command(
        SETTINGS,
        "See what holds here; admins change it",
        settings.show_settings,
        aliases=tuple(label.lower() for label in settings.LABELS.values()),
    ),
    *(replace(one, hidden=True) for one in _UNLISTED),
)


def build_registry(plugins: Plugins) -> CommandRegistry:
    """Return the core's commands and those of active plug-ins."""
    return collect_commands(CORE_COMMANDS, plugins)
