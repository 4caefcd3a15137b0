"""A judging method: of each ranking only the first place counts."""

from collections.abc import Sequence
from dataclasses import replace

from council.ballots import Ballot
from council.methods import BLIND_RANKING
from council.rounds import Draw, Round


def first_choices(round_: Round, _: Draw) -> Sequence[Ballot]:
    """Return the ballots with all answers behind the first place tied for the second."""
    return [replace(ballot, ranking=_first_and_rest(ballot.ranking)) for ballot in round_.ballots]


def _first_and_rest(ranking: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    first, *others = ranking
    rest = tuple(label for place in others for label in place)
    return (first, rest) if rest else (first,)


PLURALITY = replace(
    BLIND_RANKING,
    name="plurality",
    summary="Every model ranks the others' answers; only its first place counts.",
    ballots=first_choices,
)
