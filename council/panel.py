"""The panel: members, outside judges and chairmen, the rubric and the terms of its rounds."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NewType

from council.errors import PanelError
from council.money import cap_micro_usd

ModelId = NewType("ModelId", str)

THIS_MACHINE = "this machine"  # the receiver of texts that stay on the Council server
MIN_MEMBERS = 2
MAX_MEMBERS = 10  # slot letters are A…J and public labels K…Z, so they never overlap


def is_unset(value: object) -> bool:
    """Return whether an optional setting has no value: None, False, "" or ()."""
    return value is None or value is False or value in ("", ())


# Metadata of a field that is stored, exported and sealed only where it is set, so that rounds from
# before it stay as they were. `storage` serializes with pydantic, which reads "exclude_if".
IF_SET: Mapping[str, Any] = {"exclude_if": is_unset}


# The same for the number of a judge's pass, which is 1 unless its method asks for more.
IF_REPEATED: Mapping[str, Any] = {"exclude_if": lambda number: number == 1}


@dataclass(frozen=True, slots=True)
class Member:
    """A model in a seat of the panel; `key` is its name in the panel.

    `receiver` is the address that receives the texts, or THIS_MACHINE, if the model id does not
    show it.
    `demonstration` marks models that are too small for their rankings to mean much. `fallback` is
    asked instead where this one cannot be reached. `role` is the part it is asked to take.
    A field with the name of a setting in `council.toml` has its value; a new one needs a default
    and `metadata=IF_SET`.
    """

    key: str
    model_id: ModelId
    display: str
    family: str
    temperature: float | None = None
    receiver: str = ""
    demonstration: bool = False
    fallback: "Member | None" = field(default=None, metadata=IF_SET)
    role: str | None = field(default=None, metadata=IF_SET)


@dataclass(frozen=True, slots=True)
class Rubric:
    """The criteria given to judges; `version` changes with the text."""

    name: str
    version: str
    criteria: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Terms:
    """The settings of a panel's rounds: method, quorum, deadlines, temperatures, audits, budget.

    Each stage and each chairman has a separate deadline; `round_seconds` limits them all, counted
    from the moment a process starts or resumes the round. A temperature of None is not sent.
    An `audit_share` of None is that of bake-offs in a bake-off, and 0 elsewhere. `grace_seconds`
    are left to the others once a majority (and no fewer than the quorum) is in; None: the deadline.
    With `equal_length`, judges see all answers cut to the length of the shortest. In a
    `canary_share` of rounds, they also see an answer to another question, which does not count.
    `synthesis_tokens` is the length that the asker wants the council's answer to have at most.
    With `text_checks`, odd answers and sudden jumps in the ballots are flagged.
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
    audit_share: float | None = None
    max_round_usd: float | None = None
    grace_seconds: float | None = field(default=None, metadata=IF_SET)
    synthesis_tokens: int | None = field(default=None, metadata=IF_SET)
    equal_length: bool = field(default=False, metadata=IF_SET)
    canary_share: float | None = field(default=None, metadata=IF_SET)
    text_checks: bool = field(default=False, metadata=IF_SET)

    @property
    def cap_micro_usd(self) -> int | None:
        """The cap of a round in micro-dollars; None without one."""
        return None if self.max_round_usd is None else cap_micro_usd(self.max_round_usd)


@dataclass(frozen=True, slots=True)
class Trial:
    """A candidate that may take the seat of an incumbent, by their keys.

    Neither of them judges the other, and no chairman writes. Nobody ranks unless it `is_ranked`:
    then grades decide.
    """

    candidate: str
    incumbent: str
    is_ranked: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """The seats of a council; raise PanelError if they cannot hold a round.

    `replaced` are the members whose stand-ins took their seats in this round. With
    `has_given_texts`, the members stand for texts that were given: they are not asked, no
    chairman writes, and only those with a model vote. `filter` looks, once the ballots are in, for
    answers and reasons that try to steer judges. `trial` says whom its rounds compare.
    """

    name: str
    members: tuple[Member, ...]
    rubric: Rubric
    outside_judges: tuple[Member, ...] = ()
    chairmen: tuple[Member, ...] = ()
    terms: Terms = Terms()
    replaced: tuple[Member, ...] = field(default=(), metadata=IF_SET)
    has_given_texts: bool = field(default=False, metadata=IF_SET)
    filter: Member | None = field(default=None, metadata=IF_SET)
    trial: Trial | None = field(default=None, metadata=IF_SET)

    def __post_init__(self) -> None:
        keys = Counter(seat.key for seat in (*self.members, *self.outside_judges))
        twice = [key for key, count in keys.items() if count > 1]
        if twice:
            raise PanelError(
                f"Panel {self.name!r} includes {twice[0]!r} twice. Name the second one with "
                f'[models."another-name"] and model = {twice[0]!r}.'
            )
        for member in self.members:
            others = [m.fallback for m in self.members if m.fallback and m != member]
            if (stand_in := member.fallback) and (stand_in in others or stand_in.key in keys):
                raise PanelError(
                    f"Panel {self.name!r} needs {stand_in.key!r} for two seats, since it is also "
                    f"the fallback of {member.key!r}. Name another fallback."
                )
        stand_ins = (member.fallback for member in self.members if member.fallback)
        writers = {seat.model_id for seat in (*self.members, *self.outside_judges, *stand_ins)}
        if self.filter and self.filter.model_id in writers:
            raise PanelError(
                f"Panel {self.name!r} has {self.filter.key!r} as its filter, but that model also "
                "answers or judges and would check itself. Name another model as the filter."
            )
        if len(self.members) < MIN_MEMBERS:
            raise PanelError(
                f"Panel {self.name!r} has {len(self.members)} member(s). A council needs at "
                "least two models, so add another to its members."
            )
        if len(self.members) > MAX_MEMBERS:
            raise PanelError(
                f"Panel {self.name!r} has {len(self.members)} members. At most {MAX_MEMBERS} can "
                "rank each other, so remove some."
            )
        if not 1 <= self.terms.quorum <= len(self.members):
            raise PanelError(
                f"Panel {self.name!r} has a quorum of {self.terms.quorum}, but "
                f"{len(self.members)} members. Choose 1 to {len(self.members)}."
            )

    @property
    def judges(self) -> tuple[Member, ...]:
        """Every seat that may cast a ballot: members first, then outside judges."""
        if self.has_given_texts:
            return (*(seat for seat in self.members if seat.model_id), *self.outside_judges)
        return self.members + self.outside_judges

    def may_rank(self, seat: Member) -> bool:
        """Return whether a seat may rank the answers of its rounds: in a trial, not the pair."""
        trial = self.trial
        return not trial or (trial.is_ranked and seat.key not in {trial.candidate, trial.incumbent})

    @property
    def chair_order(self) -> tuple[Member, ...]:
        """The chairmen in order of fallback; the members if the panel names none."""
        return self.chairmen or self.members

    @property
    def seats(self) -> tuple[Member, ...]:
        """Every seat that is, was or may be asked; a chairman who also judges is in it twice."""
        stand_ins = (member.fallback for member in self.members if member.fallback)
        seated = (*self.members, *self.outside_judges, *self.chairmen)
        return (*seated, *self.replaced, *stand_ins, *([self.filter] if self.filter else []))

    def with_stand_in(self, member: Member) -> "Panel":
        """Return the panel in which the member's fallback has its seat."""
        seats = (m.fallback if m == member and m.fallback else m for m in self.members)
        return replace(self, members=tuple(seats), replaced=(*self.replaced, member))

    def seat(self, key: str) -> Member:
        """Return the seat with this key; every key stored in a round has one."""
        return next(seat for seat in self.seats if seat.key == key)
