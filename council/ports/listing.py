"""Which rounds to list, and one of them in a line."""

from dataclasses import dataclass
from datetime import datetime

from council.places import NOWHERE, Place
from council.rounds import Round, Stage


@dataclass(frozen=True, slots=True)
class RoundLine:
    """A stored round in one line; `seconds` is None until it is closed."""

    id: str
    question: str
    asked_at: datetime
    stage: Stage
    asked_by: str = ""
    place: Place = NOWHERE
    paused: bool = False
    forgotten: datetime | None = None
    panel: str = ""
    seconds: float | None = None
    failed: bool = False
    delivered: bool = False
    bakeoff: str = ""

    @classmethod
    def of(cls, round_: Round) -> "RoundLine":
        """Give a round's line, without what is not its own: whether it is paused or delivered."""
        asked, closing = round_.question, round_.closing
        told = (round_.id, asked.text, round_.asked_at, round_.stage)
        return cls(
            *told,
            asked.asked_by,
            asked.place,
            forgotten=round_.forgotten.at if round_.forgotten else None,
            panel=round_.panel.name,
            seconds=closing.seconds if closing else None,
            failed=closing is not None and closing.failure is not None,
            bakeoff=round_.bakeoff,
        )


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rounds to list; as it stands, all of them.

    `containing` is looked for in the question, capitals or not. `chats` are those the rounds were
    asked in; of private ones only those that `asker` asked for are given, unless it is None.
    `unfinished` are those that can be gone on with: neither closed, nor forgotten, nor stopped on
    purpose; `remembered` those that were not forgotten; `undelivered` those of them that are not
    yet delivered to their place, stopped or not; `succeeded` those that closed without a failure.
    They were asked at `since` or later, and before `before`; they belong to `bakeoff`, to none
    where it is "", and to any or none where it is None. Rounds of bake-offs are never
    `undelivered`.

    Private rounds are given only in the channel they were asked in where `here` is one, and with
    `only_here` no round of any other channel is.
    """

    containing: str = ""
    chats: tuple[str, ...] = ()
    asker: str | None = None
    unfinished: bool = False
    remembered: bool = False
    since: datetime | None = None
    before: datetime | None = None
    workspace: str | None = None
    here: Place | None = None
    only_here: bool = False
    undelivered: bool = False
    succeeded: bool = False
    panel: str = ""
    asked_by: str | None = None
    bakeoff: str | None = None

    def admits(self, line: RoundLine) -> bool:
        """Say whether a round is among those wanted."""
        return (
            self.containing.lower() in line.question.lower()
            and self.panel in {"", line.panel}
            and self.asked_by in {None, line.asked_by}
            and self.bakeoff in {None, line.bakeoff}
            and self._in_place(line)
            and self._in_state(line)
            and self._in_time(line.asked_at)
        )

    def _in_place(self, line: RoundLine) -> bool:
        place = line.place
        is_here = self.here is not None and self.here.shares_channel(place)
        return (
            (not self.chats or place.chat in self.chats)
            and self.workspace in {None, place.workspace}
            and (self.asker is None or not place.private or line.asked_by == self.asker)
            and (self.here is None or not place.private or is_here)
            and (is_here or not self.only_here)
        )

    def _in_state(self, line: RoundLine) -> bool:
        is_closed = line.seconds is not None
        return (
            not (self.unfinished and (line.paused or is_closed))
            and not (self.undelivered and (line.delivered or line.bakeoff))
            and not (self.succeeded and (line.failed or not is_closed))
            and not (self.leaves_forgotten_out and line.forgotten)
        )

    @property
    def leaves_forgotten_out(self) -> bool:
        """Whether no round is wanted whose texts are gone."""
        return self.unfinished or self.remembered or self.undelivered

    def _in_time(self, asked_at: datetime) -> bool:
        early = self.since is not None and asked_at < self.since
        return not early and (self.before is None or asked_at < self.before)


EVERY = Wanted()
