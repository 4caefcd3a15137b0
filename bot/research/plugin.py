"""The plug-in of the laboratory: methods and reports for researchers of judges."""

from council.plugin import Plugin

PLUGIN = Plugin(
    name="research",
    summary="Judging methods, weights and experiments for researchers of judges.",
    requires=("bakeoffs",),
    stores=("bot.research.services:open_stores",),
    services=("bot.research.services:open_service",),
    pages=("bot.research.web.pages:PAGES",),
)
