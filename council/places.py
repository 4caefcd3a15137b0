"""Places: where something is said."""

from dataclasses import dataclass

# The machine's own ways in, and rounds from before it was kept where they were asked.
HOUSE = ("web", "terminal", "")


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is said: a workspace's channel, perhaps in a thread, perhaps in private."""

    chat: str
    workspace: str = ""
    channel: str = ""
    thread: str | None = None
    private: bool = False

    @property
    def scope(self) -> str:
        """Give whose suites and schedules go here: a workspace's; "" is the house's own."""
        return "" if self.chat in HOUSE else f"{self.chat}/{self.workspace or self.channel}"

    @property
    def within(self) -> str:
        """Give the channel whose rules go here.

        A thread that not everybody in its channel sees is a channel of its own, `PARENT:THREAD`.
        """
        return self.channel.removesuffix(f":{self.thread}")

    def shares_channel(self, other: "Place") -> bool:
        """Say whether both are in one channel of one workspace, whatever the thread."""
        own = (self.chat, self.workspace, self.channel)
        return own == (other.chat, other.workspace, other.channel)


NOWHERE = Place("")
