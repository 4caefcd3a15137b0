"""Votes of simulated rounds, as they are stored for real ones."""

from collections.abc import Iterator

from council.bias.votes import AuditVote, Vote, Votes, WrittenAnswer
from council.research.simulated_judges import SimulatedRounds, SimulatedVotes

KINDS = ("own", "order", "named")
PLAIN = (0, 0, 0, 0)  # no style: no lists, headings, bold or code


def kept_votes(rounds: SimulatedRounds) -> Iterator[Votes]:
    """Yield the votes of each round, with an audit by one judge: kinds and judges take turns.

    An answer's length is its tokens; every answer is plain, and none is the first.
    """
    members, makers = rounds.panel.members, rounds.panel.makers
    cast = dict(zip(KINDS, (rounds.own_visible(), rounds.repeated(), rounds.named()), strict=True))
    for i, tokens in enumerate(rounds.tokens.tolist()):
        kind, judge = KINDS[i % len(KINDS)], i // len(KINDS) % len(members)
        yield Votes(
            judges=members,
            makers=makers,
            members=len(members),
            ballots=tuple(_vote(rounds.counted, i, j, members) for j in range(len(members))),
            audit=AuditVote(members[judge], kind, _vote(cast[kind], i, judge, members), 0.0),
            spoiled=tuple((member, 0) for member in members),
            written=tuple(
                WrittenAnswer(member, is_first=False, length=int(length), style=PLAIN)
                for member, length in zip(members, tokens, strict=True)
            ),
        )


def _vote(cast: SimulatedVotes, round_: int, judge: int, members: tuple[str, ...]) -> Vote:
    shown = tuple(members[i] for i in cast.shown[round_, judge].tolist())
    return Vote(members[judge], shown, tuple(map(float, cast.places[round_, judge].tolist())))
