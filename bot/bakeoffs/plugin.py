"""The plug-in of bake-offs: suites, schedules, leaderboards and bias reports."""

from council.plugin import Plugin

PLUGIN = Plugin(
    name="bakeoffs",
    summary="Put suites of questions to panels, and compare models over many rounds.",
    cli={
        "leaderboard": (
            "bot.bakeoffs.cli.reports:leaderboard",
            "Rank models over many rounds, with intervals.",
        ),
        "schedule": ("bot.bakeoffs.cli.schedules:schedule_app", "Manage recurring bake-offs."),
        "bakeoff": (
            "bot.bakeoffs.cli.bakeoffs:bakeoff_app",
            "Run a suite of questions on a panel.",
        ),
        "bias": ("bot.bakeoffs.cli.bias:bias_app", "Report how biased judges are."),
        "suite": ("bot.bakeoffs.cli.suites:suite_app", "Manage lists of questions for bake-offs."),
    },
    checks=("bot.bakeoffs.checks:check_schedules", "bot.bakeoffs.checks:check_verdicts"),
    sections={
        "suites": "bot.bakeoffs.settings:parse_suites",
        "bakeoffs": "bot.bakeoffs.settings:parse_bakeoffs",
        "time_zone": "bot.bakeoffs.settings:parse_time_zone",
    },
    commands=("bot.bakeoffs.commands.table:COMMANDS",),
    buttons=("bot.bakeoffs.commands.buttons:BUTTONS",),
    stores=("bot.bakeoffs.service:open_stores",),
    services=("bot.bakeoffs.service:open_service",),
    pages=("bot.bakeoffs.web.pages:PAGES",),
    tools=("bot.bakeoffs.mcp:LEADERBOARD",),
    on_closed=("bot.bakeoffs.records:count_closed_round",),
    on_export=("bot.bakeoffs.exports:BakeoffExporter",),
    on_import=("bot.bakeoffs.exports:BakeoffImporter",),
    on_verify=("bot.bakeoffs.verification:NumberVerifier",),
    on_forgotten=("storage.bakeoffs.hooks:BakeoffHooks",),
)
