"""Who sits on a council: members, outside judges and chairmen, and the terms they work under."""

from collections import Counter
from dataclasses import dataclass
from typing import NewType

from council.errors import PanelError

ModelId = NewType("ModelId", str)

FEWEST_SEATS = 2
MOST_SEATS = 10  # slot letters are A…J, public labels K…Z: ten of each never meet


@dataclass(frozen=True, slots=True)
class Member:
    """A model seated under a key; `key` is as written in the panel and names the seat.

    `receiver` is whoever gets the text, where the model id does not tell; `demonstration` marks
    models too small for their rankings to mean much.
    """

    key: str
    model_id: ModelId
    display: str
    family: str
    temperature: float | None = None
    receiver: str = ""
    demonstration: bool = False


@dataclass(frozen=True, slots=True)
class Rubric:
    """What judges are told to look for; `version` changes whenever the text does."""

    name: str
    version: str
    criteria: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Terms:
    """What a panel works under: deadlines in seconds, temperatures where the model takes one.

    Each stage has its own deadline, and each chairman; none goes beyond the round's, if there is
    one, counted from when the round was taken up.
    """

    method: str = "blind-ranking"
    quorum: int = 2
    answer_seconds: float = 60.0
    ballot_seconds: float = 60.0
    synthesis_seconds: float = 60.0
    round_seconds: float | None = None
    answer_temperature: float | None = 1.0
    ballot_temperature: float | None = 0.0
    synthesis_temperature: float | None = 0.3
    audit_share: float = 0.2
    max_round_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Panel:
    """The seats of a council. Raises PanelError, in one sentence, when they cannot be seated."""

    name: str
    members: tuple[Member, ...]
    rubric: Rubric
    outside_judges: tuple[Member, ...] = ()
    chairmen: tuple[Member, ...] = ()
    terms: Terms = Terms()

    def __post_init__(self) -> None:
        """Refuse a panel that could not hold a round."""
        keys = Counter(seat.key for seat in self.judges)
        twice = [key for key, count in keys.items() if count > 1]
        if twice:
            raise PanelError(
                f"Panel {self.name!r} seats {twice[0]!r} twice: give the second a seat of its own "
                f'with [models."another-name"] and model = {twice[0]!r}.'
            )
        if len(self.members) < FEWEST_SEATS:
            raise PanelError(
                f"Panel {self.name!r} has {len(self.members)} member(s): a council needs at least "
                "two, so add another to its members."
            )
        if len(self.members) > MOST_SEATS:
            raise PanelError(
                f"Panel {self.name!r} has {len(self.members)} members: at most {MOST_SEATS} can "
                "rank each other, so take some out."
            )
        if not 1 <= self.terms.quorum <= len(self.members):
            raise PanelError(
                f"Panel {self.name!r} asks for a quorum of {self.terms.quorum} out of "
                f"{len(self.members)} members: choose 1 to {len(self.members)}."
            )

    @property
    def judges(self) -> tuple[Member, ...]:
        """Every seat that may cast a ballot: the members, then the outside judges."""
        return self.members + self.outside_judges

    @property
    def chair_order(self) -> tuple[Member, ...]:
        """The chairmen in order of fallback; without any, the members in panel order."""
        return self.chairmen or self.members

    def seat(self, key: str) -> Member:
        """Give the seat with this key; every key stored with a round has one."""
        return next(seat for seat in (*self.judges, *self.chairmen) if seat.key == key)
