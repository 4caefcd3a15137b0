"""How many rounds one person may ask for, counted from the rounds that are stored."""

from datetime import datetime, timedelta

from bot.access.policy import Access, NotAdmittedError
from council.places import HOUSE
from council.ports import Store, Wanted
from council.rounds import Question

_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
_MINUTE, _MOMENT = timedelta(minutes=1), timedelta(microseconds=1)


class TooManyRoundsError(NotAdmittedError):
    """Somebody has asked for as many rounds as are allowed."""


async def check_pace(access: Access, store: Store, question: Question, now: datetime) -> None:
    """Raise TooManyRoundsError, which says when the next round is free, if there is none now.

    What nobody asked, what was asked in the terminal or on the page, and rounds of bake-offs go by
    no limit.
    """
    if not is_paced(access, question):
        return
    # The day's limit comes first: where both are reached, it lasts longer.
    limits = (("24 hours", _DAY, access.rounds_per_day), ("hour", _HOUR, access.rounds_per_hour))
    for words, window, most in limits:
        if most is None:
            continue
        asked = Wanted(
            chats=(question.place.chat,),
            asked_by=question.asked_by,
            bakeoff="",
            since=now - window + _MOMENT,
        )
        lines = await store.recent(most, asked)
        if len(lines) == most:
            free = _when(lines[-1].asked_at + window, now)
            raise TooManyRoundsError(
                f"You have asked {most} round{'s' * (most > 1)} in the last {words}, as many as "
                f"are allowed: the next one is free {free}."
            )


def is_paced(access: Access, question: Question) -> bool:
    """Say whether a question goes by a limit of its asker's at all."""
    is_limited = access.rounds_per_hour is not None or access.rounds_per_day is not None
    return is_limited and question.place.chat not in HOUSE and bool(question.asked_by)


def _when(moment: datetime, now: datetime) -> str:
    """Give the first whole minute from a moment on, with its day where that is not today."""
    minute = (moment + _MINUTE - _MOMENT).replace(second=0, microsecond=0)
    day = "" if minute.date() == now.date() else f"on {minute.day} {minute:%B} "
    return f"{day}at {minute:%H:%M} UTC"
