"""What every store agrees on when it looks rounds up."""

from collections.abc import Sequence

from council.errors import RoundNotFoundError

PAST_ROUNDS = 100  # how far back a panel's ballots are read


def unknown(round_id: str) -> RoundNotFoundError:
    """Give the error for an id that no stored round has."""
    return RoundNotFoundError(f"There is no round {round_id!r}.")


def the_one(start: str, found: Sequence[str]) -> str:
    """Give the id meant by its start: itself, or the only one that starts so."""
    if start in found:
        return start
    if len(found) == 1:
        return found[0]
    if found:
        raise RoundNotFoundError(f"Several rounds begin with {start!r}: give more of the id.")
    raise RoundNotFoundError(f"There is no round {start!r}: `council rounds` lists what is stored.")
