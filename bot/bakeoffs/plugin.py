"""The plug-in of bake-offs: suites, schedules, leaderboards and bias reports."""

from council.plugin import Plugin

PLUGIN = Plugin(
    name="bakeoffs",
    summary="Put suites of questions to panels, and compare models over many rounds.",
    sections={
        "suites": "bot.bakeoffs.settings:parse_suites",
        "bakeoffs": "bot.bakeoffs.settings:parse_bakeoffs",
        "time_zone": "bot.bakeoffs.settings:parse_time_zone",
    },
    commands=("bot.bakeoffs.commands.table:COMMANDS",),
    buttons=("bot.bakeoffs.commands.buttons:BUTTONS",),
    stores=("bot.bakeoffs.service:open_stores",),
    services=("bot.bakeoffs.service:open_service",),
    on_closed=("bot.bakeoffs.records:count_closed_round",),
    on_forgotten=("storage.bakeoffs.hooks:BakeoffHooks",),
)
