"""What bake-offs are held with: parts of the bot that the desk has. Knows no command."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Protocol

from bot.bakeoffs.holds import Holds
from bot.chat import Chat
from bot.outbox import Outbox
from bot.ports import Bus, Runner, Works
from council.bakeoffs.ports import Bench
from council.budget import Budget
from council.panel import Panel
from council.places import Place
from council.ports import Gateway, Store
from council.rounds import Question, Round


class House(Protocol):
    """The parts; `ways` give the chats that are connected, by name."""

    @property
    def store(self) -> Store:
        """Where rounds are kept."""
        ...

    @property
    def gateway(self) -> Gateway:
        """The way to models."""
        ...

    @property
    def runner(self) -> Runner:
        """Who carries rounds on."""
        ...

    @property
    def outbox(self) -> Outbox:
        """Where posts go out."""
        ...

    @property
    def bench(self) -> Bench:
        """Where suites, bake-offs and records are kept."""
        ...

    @property
    def budget(self) -> Budget:
        """The house's money."""
        ...

    @property
    def panels(self) -> Mapping[str, Panel]:
        """The panels that can be chosen."""
        ...

    @property
    def holds(self) -> Holds:
        """The bake-offs that this process holds."""
        ...

    @property
    def works(self) -> Works | None:
        """What shares out work among the processes of a cluster; None where there is one."""
        ...

    @property
    def bus(self) -> Bus:
        """What every process hears."""
        ...

    @property
    def shards(self) -> int:
        """How many connections Discord deals its servers out among."""
        ...

    @property
    def ways(self) -> Mapping[str, Callable[[Place], Chat | None]]:
        """What gives the chat for a place, by the chat's name."""
        ...

    @property
    def bakeoff_rounds(self) -> int:
        """How many rounds of one bake-off are under way at once."""
        ...

    @property
    def now(self) -> Callable[[], datetime]:
        """The clock."""
        ...

    def new_round(self, question: Question, panel: Panel, seed: str | None, key: str) -> Round:
        """Give a round that is not stored yet."""
        ...

    async def open(self, round_: Round) -> bool:
        """Keep a new round, its money reserved; False if it is kept already."""
        ...
