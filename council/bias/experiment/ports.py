"""Where experiments are kept, as a protocol. Each call is one transaction; StoreError."""

from typing import Protocol

from council.bias.experiment.experiment import Experiment, Held, Mark, Work


class Experiments(Protocol):
    """Where experiments are kept, with every answer and every mark the moment it exists."""

    async def open(self, experiment: Experiment) -> bool:
        """Keep a new experiment and its suite's version; False if its id is kept already."""
        ...

    async def limit(self, experiment_id: str, cap_micro: int | None) -> None:
        """Have an experiment spend so much at most, in micro-dollars; None is no cap."""
        ...

    async def recent(self) -> tuple[Experiment, ...]:
        """Give every experiment, newest first; one that cannot be read is left out."""
        ...

    async def held(self, experiment_id: str) -> Held:
        """Give what there is of an experiment; StoreError names what none can hold."""
        ...

    async def save(self, experiment_id: str, part: Work | Mark) -> None:
        """Keep an answer or a mark; the same one twice is kept once, the first."""
        ...
