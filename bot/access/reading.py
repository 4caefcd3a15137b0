"""Who may read which rounds, and whose they are."""

from dataclasses import replace

from bot.access.policy import Access
from bot.chat import Asker, Said
from council.errors import CouncilError, RoundNotFoundError
from council.places import HOUSE
from council.ports import RoundLine, Wanted
from council.rounds import Round


class NotYoursError(CouncilError):
    """Something that only the one who asked for a round may do, or an admin."""


def readable(said: Said, containing: str = "") -> Wanted:
    """Give the rounds that somebody may read in a place, and whose question contains a text.

    In the terminal sits the operator, who has the database at hand anyway. On the page everybody
    reads what was asked on this machine, save the private rounds of others. In a chat everybody
    reads what was asked in their workspace, private rounds in their own channel only; guests, and
    where people of other organisations read along, nothing but the channel's own.
    """
    here = said.place
    if here.chat == "terminal":
        return Wanted(containing)
    if here.chat in HOUSE:
        return Wanted(containing, chats=HOUSE, asker=said.asker.id)
    return Wanted(
        containing,
        chats=(here.chat,),
        workspace=here.workspace,
        here=here,
        only_here=said.asker.is_guest or said.is_shared,
    )


def listable(said: Said, containing: str = "") -> Wanted:
    """Give the rounds that are listed for somebody: readable ones that somebody asked by itself.

    The many rounds of bake-offs are found by their bake-offs.
    """
    return replace(readable(said, containing), bakeoff="")


def check_own(access: Access, round_: Round, asker: Asker, what: str) -> None:
    """Raise NotYoursError unless this is the one who asked for the round, or an admin."""
    if asker.id != round_.question.asked_by and not access.is_admin(asker):
        whose = "the one who asked, or an admin," if access.admins else "the one who asked"
        raise NotYoursError(f"Only {whose} can {what}.")


def check_readable(round_: Round, said: Said) -> None:
    """Raise RoundNotFoundError for a round that is not for this reader, as if there were none."""
    if not readable(said).admits(RoundLine.of(round_)):
        raise RoundNotFoundError(f"There is no round {round_.id!r}.")
