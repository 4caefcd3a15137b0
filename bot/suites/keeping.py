"""The house's own suites, kept when the bot starts; what has not changed is left alone."""

from collections.abc import Iterable
from datetime import datetime

from council.bakeoffs.models import Suite
from council.bakeoffs.ports import Suites

HOUSE = "council.toml"  # by whom they were kept


async def keep_house(suites: Suites, read: Iterable[Suite], at: datetime) -> None:
    """Have every suite of council.toml be the newest version of its name."""
    for suite in read:
        await suites.keep(suite, HOUSE, at)
