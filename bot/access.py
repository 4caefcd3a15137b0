"""Who may read which rounds."""

from bot.chat import Asker
from council.errors import CouncilError, RoundNotFoundError
from council.places import Place
from council.ports import RoundLine, Wanted
from council.rounds import Round

# The machine's own ways in, and rounds from before it was kept where they were asked.
HOUSE = ("web", "terminal", "")


class NotYoursError(CouncilError):
    """Something that only the one who asked for a round may do."""


def readable(reader: Asker, here: Place, containing: str = "") -> Wanted:
    """Give the rounds that somebody may read in a place, and whose question contains a text.

    In the terminal sits the operator, who has the database at hand anyway. On the page everybody
    reads what was asked on this machine, save the private rounds of others.
    """
    if here.chat == "terminal":
        return Wanted(containing)
    return Wanted(containing, chats=HOUSE, asker=reader.id)


def check_own(round_: Round, asker: Asker) -> None:
    """Raise NotYoursError unless this is the one who asked for the round."""
    if round_.question.asked_by != asker.id:
        raise NotYoursError("Only the one who asked can have a round forgotten.")


def check_readable(round_: Round, reader: Asker, here: Place) -> None:
    """Raise RoundNotFoundError for a round that is not for this reader, as if there were none."""
    if not readable(reader, here).admits(RoundLine.of(round_)):
        raise RoundNotFoundError(f"There is no round {round_.id!r}.")
