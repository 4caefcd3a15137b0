"""Figures for a Prometheus server, of this process; what all processes share says so."""

from bot.metrics.database import database_watched
from bot.metrics.lag import watch_lag
from bot.metrics.process import built, bus_reconnected, clock_watched, turns_counted
from bot.metrics.providers import providers_watched
from bot.metrics.rounds import round_closed, round_under_way
from bot.metrics.rows import watch_outbox
from bot.metrics.works import WorkState, taken_over, work_under_way, works_counted

__all__ = [
    "WorkState",
    "built",
    "bus_reconnected",
    "clock_watched",
    "database_watched",
    "providers_watched",
    "round_closed",
    "round_under_way",
    "taken_over",
    "turns_counted",
    "watch_lag",
    "watch_outbox",
    "work_under_way",
    "works_counted",
]
