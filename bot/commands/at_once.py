"""Whether a workspace has room for one more round, and when it has again."""

from collections.abc import Sequence
from datetime import datetime

from bot.access import TooManyRoundsError
from bot.commands.usual import usual_seconds
from bot.render.formatting import roughly
from council.ports import RoundLine, Store


class FullError(TooManyRoundsError):
    """As many rounds are under way in a workspace as are allowed at once."""


async def check_at_once(
    store: Store, under_way: Sequence[RoundLine], most: int, now: datetime
) -> None:
    """Raise FullError, which says when there is room again, where one more would be too many.

    The rounds under way are those of the workspace, newest first.
    """
    if len(under_way) < most:
        return
    oldest = under_way[-1]
    usual = await usual_seconds(store, oldest.panel)
    left = 0.0 if usual is None else usual - (now - oldest.asked_at).total_seconds()
    soon = f", usually in about {roughly(left)}" if left > 0 else ""
    are, one = ("round is", "it") if len(under_way) == 1 else ("rounds are", "one of them")
    raise FullError(
        f"{len(under_way)} {are} under way in this workspace, as many as are allowed at once: ask "
        f"again once {one} has its answer{soon}."
    )
