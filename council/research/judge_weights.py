"""Weights of judges by agreement with people, maker, PeerRank, or independence."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import pi, sqrt

import numpy as np
from numpy.typing import NDArray

from council.bakeoffs.bias.vote_arrays import pair_signs
from council.bakeoffs.intervals import Interval
from council.bakeoffs.leaderboard import HumanAgreement
from council.bakeoffs.record_arrays import PRECISION, Booleans, Floats
from council.tally.consistency import JudgeWeight, JudgeWeights, equal_weights
from council.tally.distributions import LEVEL, t_quantile

# The names that `--weights` accepts.
UNIFORM = "uniform"
HUMAN = "human"
FAMILY = "family"
PEERRANK = "peerrank"
INDEPENDENCE = "independence"


@dataclass(frozen=True, slots=True)
class RoundShares:
    """The counted ballots of rounds of the same seats, oldest first.

    `shares` are Borda shares by (round, judge, member), NaN for an answer that was not shown and
    for a judge without a ballot. `makers` belong to `judges`.
    """

    rounds: tuple[str, ...]
    judges: tuple[str, ...]
    makers: tuple[str, ...]
    members: tuple[str, ...]
    shares: Floats

    @property
    def voted(self) -> Booleans:
        """Which judges cast a ballot that counts, by (round, judge)."""
        return np.array((~np.isnan(self.shares)).any(axis=2))

    def weights_by_judge(self, weights: Mapping[str, float]) -> Floats:
        """Return the weights of these judges as an array."""
        return np.array([weights[judge] for judge in self.judges])


def weighted_shares(given: RoundShares, weights: Floats) -> Floats:
    """Return each member's share in each round, in pair form; NaN if no judge ranked it.

    p_cd is the weight of the judges who saw both and ranked c above d (a tie counts half), divided
    by the weight of all who saw both; the share is the mean of p_cd over the rivals d. `weights`
    are by (judge) or (round, judge), of any sum; equal weights give the official share.
    """
    round_weights = np.broadcast_to(weights, given.shares.shape[:2])
    totals = np.zeros((len(given.rounds), len(given.members)))
    rivals = np.zeros_like(totals)
    for one, other in combinations(range(len(given.members)), 2):
        won = _pair_wins(given.shares[:, :, one], given.shares[:, :, other])
        known = ~np.isnan(won)
        known_weight = np.where(known, round_weights, 0.0).sum(axis=1)
        share = (np.nan_to_num(won) * round_weights).sum(axis=1) / np.where(
            known_weight > 0, known_weight, 1.0
        )
        totals[:, one] += np.where(known_weight > 0, share, 0.0)
        totals[:, other] += np.where(known_weight > 0, 1 - share, 0.0)
        rivals[:, [one, other]] += (known_weight > 0)[:, None]
    return np.where(rivals > 0, totals / np.where(rivals > 0, rivals, 1.0), np.nan)


def _pair_wins(one: Floats, other: Floats) -> Floats:
    """Return 1 where the first is ranked above the second, ½ for a tie, NaN if one is unknown."""
    lead = one - other
    return np.where(np.abs(lead) < PRECISION, 0.5, (1 + np.sign(lead)) / 2)


def family_voices(given: RoundShares) -> Floats:
    """Return by (round, judge) 1 / the number of its maker's judges with a counted ballot.

    0 for a judge without a ballot. So every maker has one vote in a round, however many seats it
    holds.
    """
    voted = given.voted
    makers = np.array(given.makers)
    same = makers[:, None] == makers[None, :]
    seats = voted.astype(float) @ same
    return np.where(voted, 1 / np.maximum(seats, 1.0), 0.0)


def family_weights(rounds: Iterable[RoundShares]) -> JudgeWeights:
    """Return each judge's part of all votes by maker, over the rounds together.

    Its basis is its mean vote in a round. The weights of single rounds are `family_voices`.
    """
    voices: dict[str, float] = {}
    ballots: dict[str, int] = {}
    for given in rounds:
        sums, counts = family_voices(given).sum(axis=0), given.voted.sum(axis=0)
        for judge, voice, count in zip(given.judges, sums.tolist(), counts.tolist(), strict=True):
            voices[judge] = voices.get(judge, 0.0) + voice
            ballots[judge] = ballots.get(judge, 0) + int(count)
    total = sum(voices.values())
    lines = (
        JudgeWeight(judge, voice / total, ballots[judge], voice / ballots[judge])
        for judge, voice in voices.items()
        if ballots[judge]
    )
    return JudgeWeights(FAMILY, tuple(lines))


WEIGHT_FLOOR = 0.25  # of an equal weight, the least a judge can have
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class PeerRank:
    """Scores and weights by member; the weights add up to 1."""

    scores: Floats
    weights: Floats
    turns: int


def peer_rank(win_rates: Floats, floor: float = WEIGHT_FLOOR, most_turns: int = 1_000) -> PeerRank:
    """Weigh judges by how their own answers fare, from win rates by (judge, candidate) (Li 2023).

    s_c = Σ_j w_j·r_jc / Σ_j w_j over the judges that were shown c (NaN elsewhere), w = minmax(s)/Σ,
    starting from equal weights until Σ|Δw| < 1e-9. `floor` is the least weight, as a part of an
    equal one.
    """
    shown, rates = ~np.isnan(win_rates), np.nan_to_num(win_rates)
    result = PeerRank(np.zeros(len(rates)), np.full(len(rates), 1 / len(rates)), 0)
    change = 1.0
    while change >= _TOLERANCE and result.turns < most_turns:
        shown_weight = result.weights @ shown
        scores = result.weights @ rates / np.where(shown_weight > 0, shown_weight, 1.0)
        weights = _min_max_weights(scores, floor)
        change = float(np.abs(weights - result.weights).sum())
        result = PeerRank(scores, weights, result.turns + 1)
    return result


def _min_max_weights(scores: Floats, floor: float) -> Floats:
    spread = np.ptp(scores)
    if not spread:
        return np.full(len(scores), 1 / len(scores))
    raw = (scores - scores.min()) / spread
    weights: Floats = floor / len(scores) + (1 - floor) * raw / raw.sum()
    return weights


def peer_weights(rounds: Iterable[RoundShares]) -> JudgeWeights:
    """Return PeerRank's weights over the mean shares of all rounds, with a floor of a quarter.

    A judge that writes no answers cannot be rated: it weighs 1/n of n judges, and the members share
    the rest. A weight's basis is the score of the judge's own answers.
    """
    all_rounds = [*rounds]
    members = tuple(dict.fromkeys(member for given in all_rounds for member in given.members))
    judges = tuple(
        dict.fromkeys((*members, *(judge for given in all_rounds for judge in given.judges)))
    )
    if not members:
        return JudgeWeights(PEERRANK, ())
    result = peer_rank(_win_rates(all_rounds, members))
    member_part = len(members) / len(judges)
    rated = zip(members, result.weights.tolist(), result.scores.tolist(), strict=True)
    lines = [JudgeWeight(member, member_part * weight, 0, score) for member, weight, score in rated]
    lines += [JudgeWeight(judge, 1 / len(judges)) for judge in judges[len(members) :]]
    return JudgeWeights(PEERRANK, tuple(lines))


def _win_rates(rounds: Iterable[RoundShares], members: tuple[str, ...]) -> Floats:
    """Return mean shares by (judge, candidate) among members; NaN for what was never shown."""
    sums, counts = np.zeros((2, len(members), len(members)))
    for given in rounds:
        rows = [j for j, judge in enumerate(given.judges) if judge in members]
        cells = np.ix_(
            [members.index(given.judges[j]) for j in rows],
            [members.index(member) for member in given.members],
        )
        known = ~np.isnan(given.shares[:, rows])
        sums[cells] += np.nan_to_num(given.shares[:, rows]).sum(axis=0)
        counts[cells] += known.sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


MIN_VOTES = 20  # votes of people on a board, before judges are compared with them


@dataclass(frozen=True, slots=True)
class Choice:
    """The member whose answer a person voted the best of a round."""

    round_id: str
    member: str


@dataclass(frozen=True, slots=True)
class HumanVote:
    """A person's vote with the round's ballots: shares by (judge, member), and who was chosen."""

    given: RoundShares
    shares: Floats
    chosen: int
    round_id: str


def human_votes(rounds: Iterable[RoundShares], choices: Sequence[Choice]) -> Iterator[HumanVote]:
    """Yield each vote with the ballots of its round; votes on other rounds are left out."""
    by_round: dict[str, list[str]] = {}
    for choice in choices:
        by_round.setdefault(choice.round_id, []).append(choice.member)
    for given in rounds:
        for i, round_id in enumerate(given.rounds):
            for member in by_round.get(round_id, ()):
                if member in given.members:
                    yield HumanVote(given, given.shares[i], given.members.index(member), round_id)


def human_agreement(
    rounds: Iterable[RoundShares], choices: Sequence[Choice]
) -> Mapping[str, HumanAgreement]:
    """Return each judge's agreement with people; empty below twenty votes."""
    votes = [*human_votes(rounds, choices)]
    if len(votes) < MIN_VOTES:
        return {}
    # By judge and round, which several people may have voted on: its pick and a person's.
    picks: dict[str, dict[str, list[Picks]]] = {}
    for vote in votes:
        members = vote.given.members
        for judge, row in zip(vote.given.judges, vote.shares, strict=True):
            if not np.isnan(row[vote.chosen]):
                pair = (_first_of(row, members), members[vote.chosen])
                picks.setdefault(judge, {}).setdefault(vote.round_id, []).append(pair)
    return {judge: _agreement([*by_round.values()]) for judge, by_round in picks.items()}


Picks = tuple[str, str]  # what a judge put first, "" for a tie, and what a person did


def _first_of(row: Floats, members: Sequence[str]) -> str:
    first = np.flatnonzero(row >= np.nanmax(row) - PRECISION)
    return members[first[0]] if len(first) == 1 else ""


def _agreement(by_round: Sequence[Sequence[Picks]]) -> HumanAgreement:
    pairs = [pair for votes in by_round for pair in votes]
    agreement = HumanAgreement(sum(own == theirs for own, theirs in pairs), len(pairs))
    return replace(
        agreement, kappa=cohen_kappa(pairs), kappa_ci=_kappa_interval(by_round, agreement)
    )


def cohen_kappa(pairs: Sequence[Picks]) -> float | None:
    """Return κ = (p − c)/(1 − c), c = Σ_k p_k·q_k by both sides' shares of each pick (Cohen 1960).

    `p` is the share of equal picks; a tie equals none. None if c = 1.
    """
    chance = _chance(pairs)
    same = sum(own == theirs for own, theirs in pairs) / len(pairs)
    return None if chance > 1 - PRECISION else (same - chance) / (1 - chance)


def _chance(pairs: Sequence[Picks]) -> float:
    own, theirs = (Counter(side) for side in zip(*pairs, strict=True))
    return sum(count * theirs[pick] for pick, count in own.items()) / len(pairs) ** 2


def _kappa_interval(
    by_round: Sequence[Sequence[Picks]], agreement: HumanAgreement
) -> Interval | None:
    """Return the 95 % interval: a jackknife over rounds, with t (Efron and Tibshirani 1993, §11).

    Rounds that are all alike have no spread; then Wilson's interval of the equal picks, by the same
    chance, stands for it.
    """
    rounds = len(by_round)
    pairs = [pair for votes in by_round for pair in votes]
    kappa = cohen_kappa(pairs)
    without = [
        cohen_kappa([pair for j, votes in enumerate(by_round) if j != i for pair in votes])
        for i in range(rounds if rounds > 1 else 0)
    ]
    known = np.array([value for value in without if value is not None])
    if kappa is None or not without or len(known) < rounds:
        return None
    if np.ptp(known) < PRECISION:
        chance = _chance(pairs)
        low, high = ((end - chance) / (1 - chance) for end in agreement.ci)
    else:
        error = sqrt((rounds - 1) / rounds * float(((known - known.mean()) ** 2).sum()))
        half = t_quantile((1 + LEVEL) / 2, rounds - 1) * error
        low, high = kappa - half, kappa + half
    return max(-1.0, low), min(1.0, high)


# κ weighs as much as sixteen votes on answers a whole share apart, while β is small.
RIDGE_TO_COMMON = 4.0
RIDGE_TO_ZERO = 0.1  # ε, the ridge of Bradley-Terry boards
_NEWTON_STEPS = 60  # several times what the largest slopes need
_MAX_STEP = 2.0


def human_weights(
    rounds: Iterable[RoundShares], choices: Sequence[Choice], judges: tuple[str, ...]
) -> JudgeWeights:
    """Weigh judges by how well their ballots predict people's votes, from twenty votes on.

    A judge's basis is its β, and `n` the votes on answers it ranked with others. If no judge
    predicts anything, all weigh the same.
    """
    votes = [*human_votes(rounds, choices)]
    if len(votes) < MIN_VOTES:
        return equal_weights(HUMAN, judges, len(votes), MIN_VOTES)
    leads_by_judge = {judge: _leads(judge, votes) for judge in judges}
    all_leads = np.concatenate([*leads_by_judge.values()])
    common = _fit_slope(all_leads, 0.0, RIDGE_TO_ZERO)
    slopes = {
        judge: _fit_slope(part, common, RIDGE_TO_COMMON) for judge, part in leads_by_judge.items()
    }
    total = sum(max(slope, 0.0) for slope in slopes.values())
    if not total:
        return equal_weights(HUMAN, judges, len(votes), MIN_VOTES)
    lines = (
        JudgeWeight(judge, max(slope, 0.0) / total, round(leads_by_judge[judge][:, 1].sum()), slope)
        for judge, slope in slopes.items()
    )
    return JudgeWeights(HUMAN, tuple(lines), len(votes), MIN_VOTES)


def _leads(judge: str, votes: Sequence[HumanVote]) -> Floats:
    """Return rows of the judge's lead of the chosen answer over another, and the row's weight."""
    rows = [np.empty((0, 2))]
    for vote in votes:
        if judge in vote.given.judges:
            row = vote.shares[vote.given.judges.index(judge)]
            leads = np.delete(row[vote.chosen] - row, vote.chosen)
            leads = leads[~np.isnan(leads)]
            rows.append(np.column_stack([leads, np.full(len(leads), 1 / max(len(leads), 1))]))
    return np.concatenate(rows)


def _fit_slope(leads: Floats, centre: float, ridge: float) -> float:
    """Return the logistic slope of the leads, shrunk towards `centre`, by Newton's method."""
    slope = centre
    lead, weight = leads.T
    for _ in range(_NEWTON_STEPS):
        chances = 1 / (1 + np.exp(-slope * lead))
        gradient = float((weight * lead * (1 - chances)).sum()) - ridge * (slope - centre)
        information = float((weight * lead**2 * chances * (1 - chances)).sum()) + ridge
        slope += float(np.clip(gradient / information, -_MAX_STEP, _MAX_STEP))
    return slope


MIN_COMMON_ROUNDS = 40  # of every two judges
MIN_INDEPENDENT_JUDGES = 5  # with fewer, what most judges share cannot be told from what two do
UNIFORM_PART = 0.5
_MAX_CORRELATION = 0.95
_MIN_EIGENVALUE = 0.05
_MIN_TRIAD = 0.05


@dataclass(frozen=True, slots=True)
class _Agreement:
    """Correlations of judges' pairwise orders, and in how many rounds each two compared answers."""

    judges: tuple[str, ...]
    correlations: Floats
    common: NDArray[np.int64]

    def only(self, kept: Sequence[int]) -> "_Agreement":
        """Return these judges."""
        cells = np.ix_(kept, kept)
        judges = tuple(self.judges[at] for at in kept)
        return _Agreement(judges, self.correlations[cells], self.common[cells])

    @property
    def least_common(self) -> int:
        """How many rounds the two judges with the fewest had in common."""
        return int(self.common[~np.eye(len(self.judges), dtype=bool)].min())


def independence_weights(rounds: Iterable[RoundShares], judges: tuple[str, ...]) -> JudgeWeights:
    """Weigh judges by w ∝ R⁻¹1, R their residual correlations; shrunk halfway to equal weights.

    Of two judges that err alike, each counts less. A weight's basis is its mean residual
    correlation with the others, and `n` the fewest rounds that it had in common with one of them.
    Negative weights are 0. A judge without forty rounds in common with the others weighs 1/n of n
    judges, and the others share the rest.
    """
    known = _known_judges(_correlate(rounds, judges))
    have = known.least_common if len(known.judges) >= MIN_INDEPENDENT_JUDGES else 0
    if have < MIN_COMMON_ROUNDS:
        return equal_weights(INDEPENDENCE, judges, have, MIN_COMMON_ROUNDS)
    residual = residual_correlations(known.correlations)
    part = len(known.judges) / len(judges)
    others = (residual.sum(axis=1) - 1) / (len(known.judges) - 1)
    common = np.where(np.eye(len(known.judges), dtype=bool), known.common.max(), known.common)
    counts = common.min(axis=1).tolist()
    values = zip(inverse_weights(residual).tolist(), counts, others.tolist(), strict=True)
    lines = {
        judge: JudgeWeight(judge, part * weight, count, basis)
        for judge, (weight, count, basis) in zip(known.judges, values, strict=True)
    }
    mean = 1 / len(judges)
    every = (lines.get(judge, JudgeWeight(judge, mean)) for judge in judges)
    return JudgeWeights(INDEPENDENCE, tuple(every), MIN_COMMON_ROUNDS, MIN_COMMON_ROUNDS)


def _correlate(rounds: Iterable[RoundShares], judges: tuple[str, ...]) -> _Agreement:
    """Return r = sin(π/2 · τ), τ over all pairs of answers that both judges ranked (Greiner)."""
    concord, pairs, common = np.zeros((3, len(judges), len(judges)))
    for given in rounds:
        one, other = np.triu_indices(len(given.members), 1)
        signs = pair_signs(given.shares[:, :, one], given.shares[:, :, other])
        known = (~np.isnan(signs)).astype(float)
        signs = np.nan_to_num(signs)
        at = [judges.index(judge) for judge in given.judges]
        both = known @ np.swapaxes(known, 1, 2)
        concord[np.ix_(at, at)] += (signs @ np.swapaxes(signs, 1, 2)).sum(axis=0)
        pairs[np.ix_(at, at)] += both.sum(axis=0)
        common[np.ix_(at, at)] += (both > 0).sum(axis=0)
    correlations = np.sin(pi / 2 * concord / np.maximum(pairs, 1))
    return _Agreement(judges, correlations, common.astype(int))


def _known_judges(agreement: _Agreement) -> _Agreement:
    """Leave out judges, those with the fewest common rounds first, until the rest have enough."""
    while len(agreement.judges) > MIN_INDEPENDENT_JUDGES:
        if agreement.least_common >= MIN_COMMON_ROUNDS:
            break
        common = np.minimum(agreement.common, MIN_COMMON_ROUNDS)
        np.fill_diagonal(common, 0)
        fewest = int(common.sum(axis=1).argmin())
        agreement = agreement.only([at for at in range(len(agreement.judges)) if at != fewest])
    return agreement


def residual_correlations(correlations: Floats) -> Floats:
    """Return the correlations of judges less what most of them share, the quality of the answers.

    λ_j² is the repeated median (Siegel 1982) of r_jk r_jl / r_kl over the other judges k and l
    (Spearman's triads), so that two judges that err alike do not move it. The residual of j and k
    is then (r_jk − λ_j λ_k) / √((1 − λ_j²)(1 − λ_k²)).
    """
    count = len(correlations)
    # A small correlation cannot be divided by.
    divisors = np.where(correlations > _MIN_TRIAD, correlations, np.nan)
    triads = correlations[:, :, None] * correlations[:, None, :] / divisors[None]
    j, k, one = np.ogrid[:count, :count, :count]
    triads[(j == k) | (j == one) | (k == one)] = np.nan
    shared = np.clip(_known_median(_known_median(triads)), 0.0, _MAX_CORRELATION)
    loadings, own = np.sqrt(shared), np.sqrt(1 - shared)
    residual: Floats = (correlations - np.outer(loadings, loadings)) / np.outer(own, own)
    residual = np.clip(residual, -_MAX_CORRELATION, _MAX_CORRELATION)
    np.fill_diagonal(residual, 1.0)
    return residual


def _known_median(values: Floats) -> Floats:
    """Return the median of the known values along the last axis; 0 if there are none."""
    known = ~np.isnan(values).all(axis=-1)
    found = np.zeros(values.shape[:-1])
    found[known] = np.nanmedian(values[known], axis=-1)
    return found


def inverse_weights(correlations: Floats) -> Floats:
    """Return w ∝ R⁻¹1, negative ones 0, shrunk halfway to equal weights; they add up to 1."""
    eigenvalues, vectors = np.linalg.eigh(correlations)
    # Estimated correlations may contradict each other; then R has no inverse that makes sense.
    raw = vectors @ (vectors.sum(axis=0) / np.maximum(eigenvalues, _MIN_EIGENVALUE))
    raw = np.maximum(raw, 0.0)
    weights: Floats = (1 - UNIFORM_PART) * raw / raw.sum() + UNIFORM_PART / len(raw)
    return weights
