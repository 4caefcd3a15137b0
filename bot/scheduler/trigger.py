"""The slots of a schedule, as APScheduler asks for them."""

from datetime import datetime

from apscheduler.triggers.base import BaseTrigger

from bot.schedules.cron import Slots


# APScheduler ships no types.
class SlotTrigger(BaseTrigger):  # type: ignore[misc]
    """Gives one slot after another."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:
        """Give the slot after the last one, or after now where there was none.

        Of all that came while nobody could fire, APScheduler then takes the newest.
        """
        return self._slots.after(previous_fire_time or now).moment
