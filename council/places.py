"""Places: where something is said."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is said: a workspace's channel, perhaps in a thread, perhaps in private."""

    chat: str
    workspace: str = ""
    channel: str = ""
    thread: str | None = None
    private: bool = False


NOWHERE = Place("")
