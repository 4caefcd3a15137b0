"""What a schedule runs, and where that is told: its bake-off, and the way to its place."""

from dataclasses import dataclass

from bot.access import admitted
from bot.chat import Asker, Chat, Said
from bot.commands.bakeoff_meant import meant_suite
from bot.commands.desk import Desk
from council.bakeoffs.models import Bakeoff, Schedule
from council.bakeoffs.ports import WantedBakeoffs
from council.places import HOUSE, Place


@dataclass(frozen=True, slots=True)
class Way:
    """How a place is told; `chat` is None where people look for themselves."""

    chat: Chat | None


def way_to(desk: Desk, place: Place) -> Way | None:
    """Give how a place is told; None as long as its chat is not connected."""
    if place.chat in HOUSE:
        return Way(None)
    give = desk.ways.get(place.chat)
    chat = give(place) if give else None
    return Way(chat) if chat else None


async def fitted(desk: Desk, schedule: Schedule, slot: str = "") -> Bakeoff:
    """Give the bake-off of a slot, of its suite and panel as they are now, not kept yet.

    Raises SuiteError, PanelError or NotAdmittedError where there can be none.
    """
    place = schedule.place
    maker = Asker(schedule.made_by, schedule.made_by)
    # In direct messages Discord has no server, and Slack's channels have ids of their own.
    is_direct = not place.workspace or place.channel.startswith("D")
    admitted(desk.access, Said("", maker, place, "", is_direct=is_direct))
    panel = desk.panel(schedule.panel, place)
    return Bakeoff(
        id=schedule.bakeoff_id(slot),
        suite=await meant_suite(desk, place, schedule.suite),
        panel=panel,
        place=place,
        asked_by=schedule.made_by,
        at=desk.now(),
        cap_micro=schedule.cap_micro,
        schedule=schedule.id,
    )


async def still_going(desk: Desk, schedule: Schedule, but: str = "") -> Bakeoff | None:
    """Give a bake-off of the schedule that is not over, save the one of a certain slot."""
    wanted = WantedBakeoffs(schedule=schedule.id, unfinished=True)
    unfinished = await desk.bench.bakeoffs.recent(wanted=wanted)
    own = schedule.bakeoff_id(but)
    return next((one for one in unfinished if one.id != own), None)
