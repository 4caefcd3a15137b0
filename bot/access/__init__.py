"""Who may ask where, with which panels and how often, and who may read which rounds."""

from bot.access.pacing import TooManyRoundsError, check_pace, is_paced
from bot.access.policy import (
    Access,
    ChannelRules,
    NotAdmittedError,
    admitted,
    allows,
    check_panel,
)
from bot.access.reading import NotYoursError, check_own, check_readable, listable, readable

__all__ = [
    "Access",
    "ChannelRules",
    "NotAdmittedError",
    "NotYoursError",
    "TooManyRoundsError",
    "admitted",
    "allows",
    "check_own",
    "check_pace",
    "check_panel",
    "check_readable",
    "is_paced",
    "listable",
    "readable",
]
