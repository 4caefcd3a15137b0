"""How a bake-off stands, in a few words that every process of a cluster hears.

What cannot be read, as of another version, or was too long to be said, is looked up in rows.
"""

import json
from dataclasses import dataclass
from typing import Any

from bot.chat import UnwelcomeError
from council.bakeoffs.models import Bakeoff, Failed, Progress
from council.errors import BakeoffError, CouncilError

ENDED = json.dumps({"ended": True})


@dataclass(frozen=True, slots=True)
class News:
    """What was heard: how it stands, what kept it from its end, that it is over, or nothing.

    It is unsure where something was said that does not tell.
    """

    progress: Progress | None = None
    error: CouncilError | None = None
    is_over: bool = False
    is_unsure: bool = False


def topic_of(bakeoff_id: str) -> str:
    """Give what news of a bake-off are said under."""
    return f"bakeoff {bakeoff_id}"


def bell_of(bakeoff_id: str) -> str:
    """Give what its holder is asked under to read its row again."""
    return f"bell {bakeoff_id}"


def told(progress: Progress) -> str:
    """Give how a bake-off stands as text."""
    return json.dumps(
        {
            "over": progress.over,
            "failed": [[one.number, one.why] for one in progress.failed],
            "under_way": progress.under_way,
            "spent_micro": progress.spent_micro,
            "seconds_left": progress.seconds_left,
            "changed": progress.changed,
            "stored": progress.stored,
        }
    )


def failed(error: CouncilError) -> str:
    """Give what kept a bake-off from its end as text."""
    return json.dumps({"why": str(error), "unwelcome": isinstance(error, UnwelcomeError)})


def heard(text: str, bakeoff: Bakeoff) -> News:
    """Read what was said of a bake-off."""
    try:
        return _read(json.loads(text), bakeoff)
    except (ValueError, TypeError, KeyError, AttributeError):
        return News(is_unsure=True)


def _read(found: dict[str, Any], bakeoff: Bakeoff) -> News:
    if "why" in found:
        kind = UnwelcomeError if found["unwelcome"] else BakeoffError
        return News(error=kind(found["why"]))
    if "over" in found:
        pairs = tuple(Failed(number, why) for number, why in found.pop("failed"))
        return News(Progress(bakeoff, failed=pairs, **found))
    return News(is_over=bool(found["ended"]))
