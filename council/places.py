"""Place: the workspace, channel and thread in which a message is posted."""

from dataclasses import dataclass

# Chats of the installation itself; "" is a round without a recorded place.
LOCAL_CHATS = ("web", "terminal", "")


@dataclass(frozen=True, slots=True)
class Place:
    """A channel of a workspace, optionally a thread in it; `private` for direct messages."""

    chat: str
    workspace: str = ""
    channel: str = ""
    thread: str | None = None
    private: bool = False

    @property
    def scope(self) -> str:
        """The workspace whose suites and schedules apply here; "" is the installation itself."""
        return "" if self.chat in LOCAL_CHATS else f"{self.chat}/{self.workspace or self.channel}"

    @property
    def within(self) -> str:
        """The channel whose rules apply; a private thread is a channel, `PARENT:THREAD`."""
        return self.channel.removesuffix(f":{self.thread}")

    def shares_channel(self, other: "Place") -> bool:
        """Return whether both are in the same channel of the same workspace, ignoring threads."""
        own = (self.chat, self.workspace, self.channel)
        return own == (other.chat, other.workspace, other.channel)


NOWHERE = Place("")
