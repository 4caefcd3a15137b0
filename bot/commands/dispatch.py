"""Command dispatcher: the table of commands, and the gate through which every chat runs them."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from bot.access import check_admin, check_admitted
from bot.bakeoffs.commands import bakeoffs, schedules, suites
from bot.bakeoffs.commands.reports import show_report
from bot.chat import Caution, Chat, IncomingMessage, Post
from bot.commands import rounds, voting
from bot.commands.ask import ask, keep_unasked
from bot.commands.buttons import forget_command
from bot.commands.help import command_help_post, help_post, typo_post
from bot.commands.parameters import Arguments, Kind, Parameter, check_arguments
from bot.commands.registry import ASK, HELP, Command, Invocation, Registry, Run, Typo
from bot.context import AppContext
from bot.observability import logs
from council.errors import CouncilError
from council.methods import METHODS

Handler = Callable[[Chat, IncomingMessage], Awaitable[None]]


async def handle_message(app: AppContext, chat: Chat, message: IncomingMessage) -> None:
    """Run the command in a message; reply privately with a sentence if that fails."""
    await report_errors(
        chat, message, run_command(app, chat, message, COMMANDS.parse(message.text))
    )


async def run_command(
    app: AppContext, chat: Chat, message: IncomingMessage, parsed: Invocation | Typo
) -> None:
    """Run a command, or explain a typo, which costs nothing.

    Every chat runs its commands through here. Raise CouncilError if the command fails, its values
    do not fit, or its author may not use it.
    """
    if isinstance(parsed, Typo):
        check_admitted(app.access, message)
        # What waits for a button has no files, so a question with files is sent again.
        may_wait = chat.is_room and not message.files
        ask_it = await keep_unasked(app, message, parsed.text) if may_wait else None
        await chat.send_ephemeral(message, typo_post(parsed, ask_it))
        return
    command = parsed.command
    if command.name != HELP:
        check_admitted(app.access, message)
    if command.for_admins:
        check_admin(app.access, message, f"use `/council {command.full_name}`")
    check_arguments(command.parameters, parsed.arguments, command.usage)
    await app.reload_picked_panel(message.place)
    await command.run(app, chat, message, parsed.arguments)


async def report_errors(chat: Chat, message: IncomingMessage, action: Awaitable[None]) -> None:
    """Await an action; if it fails, reply privately to the message with a sentence."""
    try:
        await action
    except CouncilError as error:
        await chat.send_ephemeral(message, Post((Caution(str(error)),), str(error)))
    # The outermost handler: log a bug once, and reply without its details.
    except Exception as error:  # noqa: BLE001
        wrong = logs.log_unexpected_error("command_failed", error, key=message.key)
        line = f"{wrong} Nothing you saved is lost."
        await chat.send_ephemeral(message, Post((Caution(line),), line))


async def show_help(
    app: AppContext, chat: Chat, message: IncomingMessage, arguments: Arguments
) -> None:
    """Show all commands, or how to use one command or group."""
    topic = arguments.get("command", "").lower()
    shown = [one for one in COMMANDS.commands if not one.hidden]
    chosen = [one for one in shown if topic and topic in {one.group, one.name, one.full_name}]
    post = command_help_post(chosen) if chosen else help_post(shown)
    await chat.send_ephemeral(message, post)


def _with(
    name: str, handler: Callable[[AppContext, Chat, IncomingMessage, str], Awaitable[None]]
) -> Run:
    """Return the handler of one value as a handler of arguments; a missing value is ""."""

    async def run(
        app: AppContext, chat: Chat, message: IncomingMessage, arguments: Arguments
    ) -> None:
        await handler(app, chat, message, arguments.get(name, ""))

    return run


def _group(name: str, *commands: Command) -> tuple[Command, ...]:
    return tuple(replace(command, group=name) for command in commands)


# --- The table of commands

_admin = partial(Command, for_admins=True)
_option = partial(Parameter, named=True)
_form_field = partial(Parameter, form_only=True)

_PANEL = _option("panel", "The panel of models to ask", Kind.PANEL)
_ROUND = Parameter(
    "round", "A round: “last”, its id, or the start of it", Kind.ROUND, required=True
)
_TOPIC = Parameter("command", "A command", Kind.TOPIC)
_PICKED = Parameter("name", "The panel to use in this channel", Kind.PANEL)
_LIMIT = Parameter("limit", "How many", Kind.NUMBER)
_METHOD = _option("method", f"How answers are judged: {', '.join(METHODS)}", Kind.METHOD)
_QUESTION = (
    _PANEL,
    _METHOD,
    _option("seed", "A text that fixes letters and orders"),
    Parameter("question", "Your question", Kind.TEXT, required=True),
    _form_field("private", "Send the answer only to you", Kind.FLAG),
    _form_field("attachment", "A text, PDF or image for the question", Kind.FILE),
)
_LETTER = Parameter("answer", "The letter of the best answer, or an order: K > M = L", Kind.LABEL)
_FORGET_NOW = Parameter("yes", "Delete it without asking first", Kind.FLAG, text_only=True)
_FILTERS = (
    _option("since", "Only rounds since then: 30d, 2w or 2026-11-01", Kind.DATE),
    _option("until", "Only rounds until then: 30d, 2w or 2026-11-01", Kind.DATE),
    _option("category", "Only questions of this category"),
)
_LEADERBOARD = (
    Parameter("suite", "Only rounds of this suite", Kind.SUITE),
    _option(
        "as", "Rank the models as authors or as judges", Kind.CHOICE, choices=("author", "judge")
    ),
    _option("panel", "Only rounds of this panel", Kind.PANEL),
    *_FILTERS,
    _option("weights", "Also show judges weighted this way"),
)
_BIAS = (
    Parameter("panel", "Only rounds of this panel", Kind.PANEL),
    _option("suite", "Only rounds of this suite", Kind.SUITE),
    *_FILTERS,
)
_ROUNDS = (
    Command(HELP, "See all commands, or how to use one", show_help, (_TOPIC,)),
    Command(ASK, "Ask the council", ask, _QUESTION),
    Command(
        "panel",
        "See the panels, or pick one for this channel",
        _with("name", rounds.show_panel),
        (_PICKED,),
    ),
    Command("rounds", "List the newest rounds", _with("limit", rounds.show_rounds), (_LIMIT,)),
    Command("show", "Open a round", _with("round", rounds.show_round), (_ROUND,)),
    Command("vote", "Say which answer of a round is the best", voting.vote, (_ROUND, _LETTER)),
    Command("cancel", "Stop your round", _with("round", rounds.cancel_round), (_ROUND,)),
    Command("budget", "See what is spent and what is left", rounds.show_budget),
    Command(
        "leaderboard",
        "See which models do best over many rounds",
        partial(show_report, name="board"),
        _LEADERBOARD,
    ),
    Command(
        "bias",
        "See how biased the judges are over many rounds",
        partial(show_report, name="bias"),
        _BIAS,
    ),
    Command(
        "forget",
        "Delete what was asked and answered in your round",
        forget_command,
        (_ROUND, _FORGET_NOW),
    ),
)

_BAKEOFF = Parameter("bakeoff", "A bake-off: “last”, its id, or the start of it", Kind.BAKEOFF)
_CAP = _option("cap", "The most it may cost, as in $1.50", Kind.MONEY)
_RUN = (
    Parameter("suite", "The suite of questions", Kind.SUITE, required=True),
    _PANEL,
    _option("method", "Judging methods to compare, as in both-orders,critique", repeated=True),
    _CAP,
    Parameter("now", "Start without showing the cost first", Kind.FLAG),
)
_BAKEOFFS = _group(
    "bakeoff",
    Command(
        "list", "List the newest bake-offs", _with("", bakeoffs.list_bakeoffs), is_default=True
    ),
    Command(
        "show",
        "Show the progress or the result of a bake-off",
        _with("bakeoff", bakeoffs.show_bakeoff),
        (_BAKEOFF,),
    ),
    Command(
        "vote",
        "Vote for the best answers of a bake-off, without knowing who wrote them",
        _with("bakeoff", voting.bakeoff_vote),
        (_BAKEOFF,),
    ),
    _admin(
        "run",
        "Ask a panel a suite of questions, and compare its models",
        bakeoffs.propose_bakeoff,
        _RUN,
        is_default=True,
    ),
    _admin(
        "cancel",
        "Stop a bake-off; finished rounds stay",
        _with("bakeoff", bakeoffs.cancel_bakeoff),
        (_BAKEOFF,),
    ),
    _admin("resume", "Resume a bake-off that stopped", bakeoffs.resume_with_cap, (_BAKEOFF, _CAP)),
)

_NAME = Parameter("name", "The name of the suite", Kind.SUITE, required=True)
_QUESTIONS = (
    _NAME,
    Parameter("round", "A round whose question to add", Kind.ROUND),
    _option(
        "checks",
        "partial: grade by the checks that can be imported, if some can't",
        Kind.CHOICE,
        choices=("all", "partial"),
    ),
    Parameter("questions", "The questions, one on each line", Kind.TEXT),
    _form_field("file", "A .csv, .jsonl, .yaml or .txt file", Kind.FILE),
)
_REMOVE_NOW = Parameter("yes", "Remove it without asking first", Kind.FLAG, text_only=True)
_CODE = Parameter("code", "The code you were shown", required=True)
_SUITES = _group(
    "suite",
    Command("list", "List the suites of questions", _with("", suites.list_suites), is_default=True),
    Command("show", "Show a suite", _with("name", suites.show_suite), (_NAME,)),
    _admin(
        "add",
        "Make a suite from a file, a round or lines, or add to one",
        suites.add_suite,
        _QUESTIONS,
    ),
    _admin(
        "remove",
        "Remove a suite; its results stay",
        suites.confirm_suite_removal,
        (_NAME, _REMOVE_NOW),
    ),
    Command("keep", "Save it", _with("code", suites.keep_suite), (_CODE,), hidden=True),
    Command("leave", "Discard it", _with("code", suites.decline_suite), (_CODE,), hidden=True),
)

_NO = Command("no", "Change nothing", rounds.change_nothing, hidden=True)

_NEW = Parameter("name", "A name for the schedule", required=True)
_SCHEDULE = Parameter("name", "The name of the schedule", Kind.SCHEDULE, required=True)
_PLAN = (
    _option("suite", "The suite of questions", Kind.SUITE),
    _PANEL,
    _option("zone", "The time zone, as in Europe/Budapest"),
    _CAP,
    _form_field("channel", "Where to post the results", Kind.CHANNEL),
    Parameter("when", "When to run it: “every monday 09:00”, or a cron expression", Kind.TEXT),
)
_SUBSCRIBE, _UNSUBSCRIBE = (
    _with("name", partial(schedules.set_subscribed, wanted=wanted)) for wanted in (True, False)
)
_SCHEDULES = _group(
    "schedule",
    Command("list", "List the schedules", _with("", schedules.list_schedules), is_default=True),
    _admin("add", "Run a suite regularly", schedules.add_schedule, (_NEW, *_PLAN)),
    _admin("edit", "Change a schedule", schedules.edit_schedule_command, (_SCHEDULE, *_PLAN)),
    *(
        _admin(name, summary, _with("name", handler), (_SCHEDULE,))
        for name, summary, handler in (
            ("pause", "Pause a schedule", schedules.pause_schedule),
            ("resume", "Resume a paused schedule", schedules.resume_paused),
            ("remove", "Remove a schedule; its bake-offs stay", schedules.delete_schedule),
            ("run", "Run a schedule now", schedules.run_schedule),
        )
    ),
    Command("subscribe", "Get mentioned when its results change", _SUBSCRIBE, (_SCHEDULE,)),
    Command("unsubscribe", "Stop getting mentioned", _UNSUBSCRIBE, (_SCHEDULE,)),
)
COMMANDS = Registry((*_ROUNDS, *_BAKEOFFS, *_SUITES, *_SCHEDULES, _NO))
