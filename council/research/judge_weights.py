"""The names by which judge weights are chosen."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from council.bakeoffs.intervals import Interval, rate_interval
from council.bakeoffs.pairwise import FLOOR, peer_rank
from council.bakeoffs.record_arrays import PRECISION, Floats, Truths

# --- The names by which judge weights are chosen.

UNIFORM = "uniform"
CONSISTENCY = "consistency"
HUMAN = "human"
FAMILY = "family"
PEERRANK = "peerrank"
NAMES = (UNIFORM, CONSISTENCY, HUMAN, FAMILY, PEERRANK)


# --- How much each judge weighs, and what that rests on.


@dataclass(frozen=True, slots=True)
class JudgeWeight:
    """A judge's part of all weight, 0 to 1; `basis` is what it rests on, from `n` observations.

    None where the judge is weighed as an average one, since too little is known of it.
    """

    judge: str
    weight: float
    n: int = 0
    basis: float | None = None


@dataclass(frozen=True, slots=True)
class JudgeWeights:
    """The weights of all judges of a board; they add up to 1.

    Where there are only `have` of the `need` observations it takes, the weights are equal and are
    not to be used.
    """

    name: str
    judges: tuple[JudgeWeight, ...]
    have: int = 0
    need: int = 0

    @property
    def is_usable(self) -> bool:
        """Whether enough is known to weigh by."""
        return self.have >= self.need

    @property
    def weights(self) -> Mapping[str, float]:
        """The weight of each judge."""
        return {line.judge: line.weight for line in self.judges}


def equal(name: str, judges: tuple[str, ...], have: int = 0, need: int = 0) -> JudgeWeights:
    """Give every judge the same weight."""
    lines = (JudgeWeight(judge, 1 / len(judges)) for judge in judges)
    return JudgeWeights(name, tuple(lines), have, need)


# --- Weights by order consistency: who votes alike when shown the same answers in another order.

FEWEST_REPEATS = 20  # of a judge's audit ballots, before it is weighed
SHRUNK = 0.25  # of the way to equal weights


@dataclass(frozen=True, slots=True)
class Repeats:
    """The share of orders a judge `kept`, 0 to 1, over so many audit repeats."""

    ballots: int
    kept: float


def consistency_weights(repeats: Mapping[str, Repeats], shrunk: float = SHRUNK) -> JudgeWeights:
    """Weigh judges by (2c − 1)₊², c the share of orders kept; shrunk towards equal weights.

    A judge of fewer than twenty repeats weighs 1/n of n judges; the others share the rest. Where
    all of them vote as by chance, they share it equally.
    """
    judges = tuple(repeats)
    known = {judge: one for judge, one in repeats.items() if one.ballots >= FEWEST_REPEATS}
    if not known:
        most = max((one.ballots for one in repeats.values()), default=0)
        return equal(CONSISTENCY, judges, most, FEWEST_REPEATS)
    raw = {judge: _merit(one) for judge, one in known.items()}
    total = sum(raw.values())
    mean, room = 1 / len(judges), len(known) / len(judges)

    def line(judge: str) -> JudgeWeight:
        one = repeats[judge]
        if judge not in known:
            return JudgeWeight(judge, mean, one.ballots)
        own = room * raw[judge] / total if total else mean
        weight = (1 - shrunk) * own + shrunk * mean
        return JudgeWeight(judge, weight, one.ballots, one.kept)

    return JudgeWeights(CONSISTENCY, tuple(map(line, judges)), FEWEST_REPEATS, FEWEST_REPEATS)


def _merit(one: Repeats) -> float:
    return max(0.0, 2 * one.kept - 1) ** 2


# --- What judges gave to authors in many rounds, and the shares that follow when judges weigh.


@dataclass(frozen=True, slots=True)
class Given:
    """The counted ballots of rounds of the same seats, oldest first.

    `shares` are Borda shares, (round, judge, member); NaN where a judge was not shown an answer or
    cast no ballot. `makers` go with `judges`.
    """

    rounds: tuple[str, ...]
    judges: tuple[str, ...]
    makers: tuple[str, ...]
    members: tuple[str, ...]
    shares: Floats

    @property
    def voted(self) -> Truths:
        """Which judges cast a ballot that counts, (round, judge)."""
        return np.array((~np.isnan(self.shares)).any(axis=2))

    def of_judges(self, weights: Mapping[str, float]) -> Floats:
        """Give the weights of these judges, in their order."""
        return np.array([weights[judge] for judge in self.judges])


def weighted_shares(given: Given, weights: Floats) -> Floats:
    """Give each member's share in each round, in pair form, NaN where nobody ranked it.

    p_cd is the weight of the judges who saw both and put c above d (a tie half), as a part of the
    weight of all who saw both; the share is the mean of p_cd over the rivals d. `weights` are
    (judge) or (round, judge), of any sum; with equal ones this is the official share.
    """
    voices = np.broadcast_to(weights, given.shares.shape[:2])
    totals = np.zeros((len(given.rounds), len(given.members)))
    rivals = np.zeros_like(totals)
    for one, other in combinations(range(len(given.members)), 2):
        won = _won(given.shares[:, :, one], given.shares[:, :, other])
        known = ~np.isnan(won)
        heard = np.where(known, voices, 0.0).sum(axis=1)
        share = (np.nan_to_num(won) * voices).sum(axis=1) / np.where(heard > 0, heard, 1.0)
        totals[:, one] += np.where(heard > 0, share, 0.0)
        totals[:, other] += np.where(heard > 0, 1 - share, 0.0)
        rivals[:, [one, other]] += (heard > 0)[:, None]
    return np.where(rivals > 0, totals / np.where(rivals > 0, rivals, 1.0), np.nan)


def _won(one: Floats, other: Floats) -> Floats:
    """Give 1 where the first is above the second, ½ where they tie, NaN where not both are seen."""
    lead = one - other
    return np.where(np.abs(lead) < PRECISION, 0.5, (1 + np.sign(lead)) / 2)


# --- Weights by family share: every maker has one voice in a round, however many seats it holds.


def family_voices(given: Given) -> Floats:
    """Give (round, judge): 1 / the number of its maker's judges with a counted ballot there.

    0 for a judge that cast none.
    """
    voted = given.voted
    makers = np.array(given.makers)
    same = makers[:, None] == makers[None, :]
    seats = voted.astype(float) @ same
    return np.where(voted, 1 / np.maximum(seats, 1.0), 0.0)


def family_weights(rounds: Iterable[Given]) -> JudgeWeights:
    """Give each judge's part of all voices, over the rounds together; its basis is its mean voice.

    The weights of single rounds are `family_voices`.
    """
    voices: dict[str, float] = {}
    ballots: dict[str, int] = {}
    for given in rounds:
        sums, counts = family_voices(given).sum(axis=0), given.voted.sum(axis=0)
        for judge, voice, count in zip(given.judges, sums.tolist(), counts.tolist(), strict=True):
            voices[judge] = voices.get(judge, 0.0) + voice
            ballots[judge] = ballots.get(judge, 0) + int(count)
    heard = sum(voices.values())
    lines = (
        JudgeWeight(judge, voice / heard, ballots[judge], voice / ballots[judge])
        for judge, voice in voices.items()
        if ballots[judge]
    )
    return JudgeWeights(FAMILY, tuple(lines))


# --- Weights by PeerRank: a judge weighs as much as its own answers are found to be worth.


def peer_weights(rounds: Iterable[Given]) -> JudgeWeights:
    """Give PeerRank's weights over the mean shares of all rounds, with a floor of a quarter.

    A judge that writes no answers has no worth to go by: it weighs 1/n of n judges, and the
    members share the rest. A weight's basis is the score of the judge's own answers.
    """
    held = [*rounds]
    members = tuple(dict.fromkeys(member for given in held for member in given.members))
    judges = tuple(dict.fromkeys((*members, *(judge for given in held for judge in given.judges))))
    if not members:
        return JudgeWeights(PEERRANK, ())
    found = peer_rank(_win_rates(held, members), FLOOR)
    room = len(members) / len(judges)
    own = zip(members, found.weights.tolist(), found.scores.tolist(), strict=True)
    lines = [JudgeWeight(member, room * weight, 0, score) for member, weight, score in own]
    lines += [JudgeWeight(judge, 1 / len(judges)) for judge in judges[len(members) :]]
    return JudgeWeights(PEERRANK, tuple(lines))


def _win_rates(rounds: Iterable[Given], members: tuple[str, ...]) -> Floats:
    """Give mean shares by (judge, candidate) among members; NaN for what was never shown."""
    sums, counts = np.zeros((2, len(members), len(members)))
    for given in rounds:
        rows = [j for j, judge in enumerate(given.judges) if judge in members]
        at = np.ix_(
            [members.index(given.judges[j]) for j in rows],
            [members.index(member) for member in given.members],
        )
        known = ~np.isnan(given.shares[:, rows])
        sums[at] += np.nan_to_num(given.shares[:, rows]).sum(axis=0)
        counts[at] += known.sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


# --- What people chose in rounds, and how often each judge chose the same.

FEWEST_VOTES = 20  # of people on a board, before judges are held against them


@dataclass(frozen=True, slots=True)
class Choice:
    """The member whose answer somebody called the best of a round."""

    round_id: str
    member: str


@dataclass(frozen=True, slots=True)
class WithPeople:
    """How often a judge put the answer a person chose above each other one that it was shown.

    `same` of `ballots`, one for each vote on an answer it saw; a tie is not above. Of m answers
    chance puts the chosen one first in 1/m.
    """

    same: int
    ballots: int

    @property
    def share(self) -> float:
        """The share of ballots."""
        return self.same / self.ballots

    @property
    def ci(self) -> Interval:
        """The 95 % interval of the share (Wilson)."""
        return rate_interval(self.same, self.ballots)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A vote beside a round's ballots: shares by (judge, member), and which member was chosen."""

    given: Given
    shares: Floats
    chosen: int


def comparisons(rounds: Iterable[Given], choices: Sequence[Choice]) -> Iterator[Comparison]:
    """Give each vote with the ballots of its round; votes on other rounds are left out."""
    by_round: dict[str, list[str]] = {}
    for choice in choices:
        by_round.setdefault(choice.round_id, []).append(choice.member)
    for given in rounds:
        for i, round_id in enumerate(given.rounds):
            for member in by_round.get(round_id, ()):
                if member in given.members:
                    yield Comparison(given, given.shares[i], given.members.index(member))


def with_people(rounds: Iterable[Given], choices: Sequence[Choice]) -> Mapping[str, WithPeople]:
    """Give each judge's agreement with people; nobody's before there are twenty votes."""
    held = [*comparisons(rounds, choices)]
    if len(held) < FEWEST_VOTES:
        return {}
    found: dict[str, WithPeople] = {}
    for one in held:
        for judge, row in zip(one.given.judges, one.shares, strict=True):
            if not np.isnan(row[one.chosen]):
                before = found.get(judge, WithPeople(0, 0))
                same = before.same + _is_above(row, one.chosen)
                found[judge] = WithPeople(same, before.ballots + 1)
    return found


def _is_above(row: Floats, chosen: int) -> bool:
    others = np.delete(row, chosen)
    return bool(np.nanmax(others) < row[chosen] - PRECISION)


# --- Weights fitted on what people chose, drawn towards equal ones where they chose little.

TO_ALL = 4.0  # κ: as much as sixteen votes on answers a whole share apart, while β is small
TO_NOTHING = 0.1  # ε, the ridge of Bradley-Terry boards
_TURNS = 60  # several times what the furthest slopes take
_LONGEST_STEP = 2.0


def human_weights(
    rounds: Iterable[Given], choices: Sequence[Choice], judges: tuple[str, ...]
) -> JudgeWeights:
    """Weigh judges by how well their ballots foretell what people chose, from twenty votes on.

    A judge's basis is its β, and `n` the votes on answers that it saw beside others. Where nobody
    foretells anything, all weigh alike.
    """
    held = [*comparisons(rounds, choices)]
    if len(held) < FEWEST_VOTES:
        return equal(HUMAN, judges, len(held), FEWEST_VOTES)
    parts = {judge: _leads(judge, held) for judge in judges}
    together = np.concatenate([*parts.values()])
    common = _slope(together, 0.0, TO_NOTHING)
    slopes = {judge: _slope(part, common, TO_ALL) for judge, part in parts.items()}
    total = sum(max(slope, 0.0) for slope in slopes.values())
    if not total:
        return equal(HUMAN, judges, len(held), FEWEST_VOTES)
    lines = (
        JudgeWeight(judge, max(slope, 0.0) / total, round(parts[judge][:, 1].sum()), slope)
        for judge, slope in slopes.items()
    )
    return JudgeWeights(HUMAN, tuple(lines), len(held), FEWEST_VOTES)


def _leads(judge: str, votes: Sequence[Comparison]) -> Floats:
    """Give, a row for each answer beside a chosen one, the judge's lead and the row's weight."""
    found = [np.empty((0, 2))]
    for vote in votes:
        if judge in vote.given.judges:
            row = vote.shares[vote.given.judges.index(judge)]
            leads = np.delete(row[vote.chosen] - row, vote.chosen)
            leads = leads[~np.isnan(leads)]
            found.append(np.column_stack([leads, np.full(len(leads), 1 / max(len(leads), 1))]))
    return np.concatenate(found)


def _slope(leads: Floats, centre: float, drawn: float) -> float:
    """Give the slope that fits leads, drawn to a centre, by Newton's method."""
    slope = centre
    lead, worth = leads.T
    for _ in range(_TURNS):
        chances = 1 / (1 + np.exp(-slope * lead))
        rise = float((worth * lead * (1 - chances)).sum()) - drawn * (slope - centre)
        bend = float((worth * lead**2 * chances * (1 - chances)).sum()) + drawn
        slope += float(np.clip(rise / bend, -_LONGEST_STEP, _LONGEST_STEP))
    return slope
