"""A round's answers with the leaderboard as prior, as it is shown beside the count."""

from collections.abc import Sequence

from bot.chat import Heading, Line, Note, Post, Table
from bot.render.boards.chart import percent
from bot.render.figures import counted
from bot.render.names import names_of
from council.research.posterior import STRAY, Likely
from council.rounds import Draw, Round

MOST = 0.99
TITLE = "What the leaderboard would have said"
_COLUMNS = ("Answer", "By", "By the board alone", "With this round's ballots", "Counted")
HOW = (
    "The chance of each answer to be the best of the round, by a model: the member's strength on "
    "the leaderboard of the rounds before, as far as it is known, from which an answer strays by "
    "{stray:g} in log-odds, and this round's ballots. The official count knows no leaderboard, and "
    "stays as it is."
)


def beside_post(round_: Round, draw: Draw, likely: Sequence[Likely], rounds: int) -> Post:
    """Give the chances, likeliest first, with the place each answer has in the official count."""
    names = names_of(round_.panel)
    labels = dict(draw.labels.pairs)
    lines = round_.tally.standings if round_.tally else ()
    places = {line.label: line.place for line in lines if line.share is not None}
    rows = tuple(
        (
            f"Response {labels[one.member]}",
            names[one.member],
            chance(one.before),
            chance(one.after),
            str(places.get(labels[one.member], "–")),
        )
        for one in likely
    )
    parts = (
        Heading(TITLE),
        Table(_COLUMNS, rows, frozenset({2, 3, 4})),
        Note(f"{HOW.format(stray=STRAY)} The board counts {counted(rounds, 'round')}."),
    )
    return Post(parts, TITLE)


def chance(share: float) -> str:
    """Give a chance that is never called certain: "over 99 %" at most."""
    if share > MOST:
        return "over 99 %"
    return percent(share) if share >= 1 - MOST else "under 1 %"


def too_few(round_: Round, rounds: int, needed: int) -> Post:
    """Say that there is too little to say."""
    why = (
        f"The leaderboard has a say from {needed} rounds before on; there are {rounds}."
        if rounds < needed
        else f"Round {round_.id} has no ballot that counts."
    )
    return Post((Heading(TITLE), Line(why)), TITLE)
