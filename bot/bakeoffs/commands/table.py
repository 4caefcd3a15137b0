"""Table of the commands of bake-offs, suites, schedules, leaderboards and bias reports."""

from dataclasses import replace
from functools import partial

from bot.bakeoffs.commands import bakeoffs, schedules, suites, trials, voting
from bot.bakeoffs.commands.reports import how_to_share, show_report
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.render.schedules import NEW_SCHEDULE_BUTTON
from bot.bakeoffs.render.suites import NEW_SUITE_BUTTON
from bot.bakeoffs.render.trials import TRY_BUTTON
from bot.chat import IncomingMessage
from bot.commands.parameters import Kind, Parameter, Suggestion, form_field, option
from bot.commands.registry import Command, admin_command, group_commands, with_value
from bot.commands.table import PANEL
from bot.context import AppContext


async def suggest_suites(app: AppContext, message: IncomingMessage) -> list[Suggestion]:
    """Return the suites that can be used here."""
    lines = await bakeoff_stores(app).suites.list_summaries(message.place.scope)
    return [(line.name, line.name) for line in lines]


async def suggest_schedules(app: AppContext, message: IncomingMessage) -> list[Suggestion]:
    """Return the visible schedules."""
    return [(one.name, one.name) for one in await schedules.load_visible_schedules(app, message)]


async def suggest_bakeoffs(app: AppContext, message: IncomingMessage) -> list[Suggestion]:
    """Return the readable bake-offs, by suite, panel and start."""
    return [
        (f"{one.suite.name} · {one.panel.name} · {one.at:%Y-%m-%d %H:%M}", one.id)
        for one in await bakeoffs.load_readable_bakeoffs(app, message)
    ]


_SUITE_PATTERN = r"[\w.+-]+(?:@[0-9a-f]+)?"
_suite = partial(Parameter, pattern=_SUITE_PATTERN, suggest=suggest_suites)
_FILTERS = (
    option("since", "Only rounds since then: 30d, 2w or 2026-11-01", Kind.DATE),
    option("until", "Only rounds until then: 30d, 2w or 2026-11-01", Kind.DATE),
    option("category", "Only questions of this category"),
)
_LEADERBOARD = (
    _suite("suite", "Only rounds of this suite"),
    option(
        "as", "Rank the models as authors or as judges", Kind.CHOICE, choices=("author", "judge")
    ),
    option("panel", "Only rounds of this panel", Kind.PANEL),
    *_FILTERS,
    option("weights", "Also show judges weighted this way"),
)
_BIAS = (
    Parameter("panel", "Only rounds of this panel", Kind.PANEL),
    _suite("suite", "Only rounds of this suite", named=True),
    *_FILTERS,
)
_REPORTS = (
    Command(
        "leaderboard",
        "See which models do best over many rounds",
        partial(show_report, name="board"),
        _LEADERBOARD,
        aliases=("board", "boards"),
    ),
    Command(
        "bias",
        "See how biased the judges are over many rounds",
        partial(show_report, name="bias"),
        _BIAS,
    ),
    Command(
        "share",
        "Share a report",
        how_to_share,
        hidden=True,
        aliases=("share to channel",),
    ),
)

_BAKEOFF = Parameter(
    "bakeoff",
    "A bake-off: “last”, its id, or the start of it",
    pattern=r"last|[\w:.@-]+",
    suggest=suggest_bakeoffs,
)
_CAP = option("cap", "The most it may cost, as in $1.50", Kind.MONEY)
_RUN = (
    _suite("suite", "The suite of questions", required=True),
    PANEL,
    option("method", "Judging methods to compare, as in both-orders,critique", repeated=True),
    _CAP,
    Parameter("now", "Start without showing the cost first", Kind.FLAG),
)
_TRY = (
    Parameter("model", "A model that is not in the panel", required=True, pattern=r"\S+"),
    _suite("suite", "The suite of questions", required=True),
    PANEL,
    option("incumbent", "The model that it may replace"),
    _CAP,
    Parameter("now", "Start without showing the cost first", Kind.FLAG),
)
_BAKEOFFS = group_commands(
    "bakeoff",
    "Bake-offs of models",
    Command(
        "list", "List the newest bake-offs", with_value("", bakeoffs.list_bakeoffs), is_default=True
    ),
    Command(
        "show",
        "Show the progress or the result of a bake-off",
        with_value("bakeoff", bakeoffs.show_bakeoff),
        (_BAKEOFF,),
    ),
    Command(
        "questions",
        "Show what each model did on each question of a bake-off",
        with_value("bakeoff", bakeoffs.show_questions),
        (_BAKEOFF,),
        aliases=("questions",),
    ),
    Command(
        "vote",
        "Vote for the best answers of a bake-off, without knowing who wrote them",
        with_value("bakeoff", voting.vote_in_bakeoff),
        (_BAKEOFF,),
    ),
    admin_command(
        "run",
        "Ask a panel a suite of questions, and compare its models",
        bakeoffs.propose_bakeoff,
        _RUN,
        is_default=True,
    ),
    *(
        admin_command(
            name,
            summary,
            with_value("bakeoff", partial(bakeoffs.set_baseline, wanted=name == "bless")),
            (_BAKEOFF,),
        )
        for name, summary in (
            ("bless", "Compare later runs of its suite with this bake-off"),
            ("unbless", "Compare runs of its suite with the runs before again"),
        )
    ),
    admin_command(
        "try",
        "Try a new model: should it replace one of the panel's?",
        trials.propose_trial,
        _TRY,
        aliases=("try another model",),
        form=TRY_BUTTON,
    ),
    admin_command(
        "cancel",
        "Stop a bake-off; finished rounds stay",
        with_value("bakeoff", bakeoffs.cancel_bakeoff),
        (_BAKEOFF,),
    ),
    admin_command(
        "resume", "Resume a bake-off that stopped", bakeoffs.resume_with_cap, (_BAKEOFF, _CAP)
    ),
)

_NAME = _suite("name", "The name of the suite", required=True)
_QUESTIONS = (
    _NAME,
    Parameter("round", "A round whose question to add", Kind.ROUND),
    option(
        "checks",
        "partial: grade by the checks that can be imported, if some can't",
        Kind.CHOICE,
        choices=("all", "partial"),
    ),
    *(
        option(name, f"The file's column with the {name}, if it isn't found")
        for name in suites.ASKED_COLUMNS
    ),
    Parameter("questions", "The questions, one on each line", Kind.TEXT),
    form_field("file", "A .csv, .jsonl, .yaml or .txt file", Kind.FILE),
)
_REMOVE_NOW = Parameter("yes", "Remove it without asking first", Kind.FLAG, text_only=True)
_CODE = Parameter("code", "The code you were shown", required=True)
_SUITES = group_commands(
    "suite",
    "Suites of questions",
    Command(
        "list", "List the suites of questions", with_value("", suites.list_suites), is_default=True
    ),
    Command("show", "Show a suite", with_value("name", suites.show_suite), (_NAME,)),
    admin_command(
        "add",
        "Make a suite from a file, a round or lines, or add to one",
        suites.add_suite,
        _QUESTIONS,
        aliases=("add to suite", "new suite"),
        form=NEW_SUITE_BUTTON,
    ),
    admin_command(
        "remove",
        "Remove a suite; its results stay",
        suites.confirm_suite_removal,
        (_NAME, _REMOVE_NOW),
    ),
    Command("keep", "Save it", with_value("code", suites.keep_suite), (_CODE,), hidden=True),
    Command("leave", "Discard it", with_value("code", suites.decline_suite), (_CODE,), hidden=True),
)

_NEW = Parameter("name", "A name for the schedule", required=True)
_SCHEDULE = Parameter("name", "The name of the schedule", required=True, suggest=suggest_schedules)
_ONLY = replace(_SCHEDULE, help="The name of the schedule, unless there is one", required=False)
_PLAN = (
    _suite("suite", "The suite of questions", named=True),
    PANEL,
    option("zone", "The time zone, as in Europe/Budapest"),
    _CAP,
    form_field("channel", "Where to post the results", Kind.CHANNEL),
    Parameter("when", "When to run it: “every monday 09:00”, or a cron expression", Kind.TEXT),
)
_SUBSCRIBE, _UNSUBSCRIBE = (
    with_value("name", partial(schedules.set_subscribed, wanted=wanted)) for wanted in (True, False)
)
_SCHEDULES = group_commands(
    "schedule",
    "Schedules",
    Command(
        "list", "List the schedules", with_value("", schedules.list_schedules), is_default=True
    ),
    admin_command(
        "add",
        "Run a suite regularly",
        schedules.add_schedule,
        (_NEW, *_PLAN),
        aliases=("new schedule",),
        form=NEW_SCHEDULE_BUTTON,
    ),
    admin_command(
        "edit", "Change a schedule", schedules.edit_schedule_command, (_SCHEDULE, *_PLAN)
    ),
    *(
        admin_command(name, summary, with_value("name", handler), (which,), aliases=aliases)
        for name, summary, handler, which, aliases in (
            ("pause", "Pause a schedule", schedules.pause_schedule, _ONLY, ("pause",)),
            (
                "resume",
                "Resume a paused schedule",
                schedules.resume_paused,
                _ONLY,
                ("resume schedule",),
            ),
            (
                "remove",
                "Remove a schedule; its bake-offs stay",
                schedules.delete_schedule,
                _SCHEDULE,
                (),
            ),
            ("run", "Run a schedule now", schedules.run_schedule, _SCHEDULE, ()),
        )
    ),
    admin_command(
        "run-now",
        "See what a run costs, and start it",
        with_value("name", schedules.offer_run),
        (_ONLY,),
        hidden=True,
        aliases=("run now", "run it"),
    ),
    Command(
        "subscribe",
        "Get mentioned when its results change",
        _SUBSCRIBE,
        (_ONLY,),
        aliases=("subscribe",),
    ),
    Command(
        "unsubscribe",
        "Stop getting mentioned",
        _UNSUBSCRIBE,
        (_ONLY,),
        aliases=("unsubscribe",),
    ),
)
COMMANDS = (*_REPORTS, *_BAKEOFFS, *_SUITES, *_SCHEDULES)
