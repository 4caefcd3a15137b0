"""Trial of a candidate against an incumbent: whom it asks, when it stops, and what it shows.

Pure. It looks at quarters of a suite, with O'Brien-Fleming bounds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil, sqrt

import numpy as np

from council.bakeoffs.grade_comparison import MIN_GRADED, answer_grades, right_answers
from council.bakeoffs.leaderboard import known_values, mean_or_none
from council.bakeoffs.models import Suite
from council.bakeoffs.record_arrays import PRECISION, Columns, Floats
from council.errors import PanelError, SuiteError
from council.methods import BLIND_RANKING, BOTH_ORDERS
from council.panel import MAX_MEMBERS, MIN_MEMBERS, Member, Panel, Trial

LOOKS = 4  # at quarters of the suite
# O'Brien-Fleming: at four looks, |z| of this times √(4/k) at look k has a two-sided level of .05.
BOUND = 2.3
MIN_QUESTIONS = 6  # with fewer, not even a model that wins all of them is ahead: √5 < 2.3
USUAL_SPREAD = 0.19  # the share of questions on which one of two models is right and one is wrong
SETTLED = 0.05  # the difference that further questions would settle


class Outcome(StrEnum):
    """What a trial says; the values are those of its JSON."""

    SWITCH = "switch"
    KEEP = "keep"
    UNDECIDED = "undecided"


# --- Whom and what it asks


def rests_on_grades(suite: Suite) -> bool:
    """Return whether grades decide: all questions of a suite are graded, or at least ten."""
    graded = sum(question.is_graded for question in suite.questions)
    return graded == len(suite.questions) or graded >= MIN_GRADED


def trial_panel(panel: Panel, suite: Suite, candidate: Member, incumbent: str = "") -> Panel:
    """Return the panel of a trial: the incumbent, the candidate and, to rank them, the others.

    Without an `incumbent` it is the panel's first model. Raise PanelError for a candidate that is
    in the panel, or an incumbent that is not, SuiteError for a suite that can show nothing.
    """
    keys = [seat.key for seat in panel.members]
    seat = next((one for one in panel.members if one.key == (incumbent or keys[0])), None)
    if candidate.key in keys:
        raise PanelError(
            f"{candidate.display} is already in panel {panel.name}. `/council bakeoff "
            f"{suite.name}` compares the models of a panel."
        )
    if seat is None:
        raise PanelError(
            f"Panel {panel.name} has no model {incumbent!r}. Choose one of {', '.join(keys)}."
        )
    is_ranked = not rests_on_grades(suite)
    counted = sum(one.is_graded or is_ranked for one in suite.questions)
    if counted < MIN_QUESTIONS:
        raise SuiteError(
            f"{counted} of suite {suite.name}'s questions count, and that can't show which model "
            f"is better. Add questions: at least {MIN_QUESTIONS}, and 50 show much more."
        )
    outside = tuple(one for one in panel.outside_judges if one.key != candidate.key)
    others = [one for one in panel.members if one != seat] if is_ranked else []
    members = (seat, candidate, *others[: MAX_MEMBERS - MIN_MEMBERS])
    terms = replace(
        panel.terms,
        method=(BOTH_ORDERS if is_ranked else BLIND_RANKING).name,
        quorum=MIN_MEMBERS,
        audit_share=0.0,
        canary_share=None,
    )
    return replace(
        panel,
        members=tuple(replace(one, fallback=None) for one in members),
        outside_judges=outside,
        chairmen=(),
        terms=terms,
        filter=None,
        trial=Trial(candidate.key, seat.key, is_ranked),
    )


def round_panel(panel: Panel, reused: Sequence[str]) -> Panel:
    """Return the panel of one question: models whose answers can't be used again only judge.

    Without the answers of the candidate and the incumbent, the round fails.
    """
    trial = panel.trial
    pair = {trial.candidate, trial.incumbent} if trial else set()
    members = tuple(one for one in panel.members if one.key in {*pair, *reused})
    judges = tuple(one for one in panel.members if one not in members)
    terms = replace(panel.terms, quorum=len(members))
    outside = (*panel.outside_judges, *judges)
    return replace(panel, members=members, outside_judges=outside, terms=terms)


# --- When it stops


def look_sizes(questions: int) -> tuple[int, ...]:
    """Return after how many questions it looks at the result: at each quarter of them."""
    sizes = (ceil(questions * look / LOOKS) for look in range(1, LOOKS + 1))
    return tuple(dict.fromkeys(sizes))


def next_look(asked: int, questions: int) -> int:
    """Return after how many questions it looks next; all of them at the end."""
    return next((size for size in look_sizes(questions) if size > asked), questions)


def z_value(differences: Floats) -> float:
    """Return the sum of paired differences over its standard deviation if both are equal.

    The squares of the differences estimate the variance (as in McNemar's test), so k questions on
    which they differ reach √k at most: a few of them decide nothing.
    """
    root = sqrt(float((differences**2).sum()))
    return float(differences.sum()) / root if root > PRECISION else 0.0


def outcome_at(differences: Floats, asked: int, questions: int) -> Outcome:
    """Return what the differences (candidate minus incumbent) show after so many questions."""
    z, bound = z_value(differences), BOUND * sqrt(questions / asked)
    if abs(z) < bound:
        return Outcome.UNDECIDED
    return Outcome.SWITCH if z > 0 else Outcome.KEEP


def can_still_decide(differences: Floats, asked: int, questions: int) -> bool:
    """Return whether any later look could decide, if one model won all questions until then."""
    later = [size for size in look_sizes(questions) if size > asked]
    return any(
        outcome_at(np.append(differences, np.full(size - asked, side)), size, questions)
        is not Outcome.UNDECIDED
        for size in later
        for side in (-1.0, 1.0)
    )


def is_settled(differences: Floats, asked: int, questions: int) -> bool:
    """Return whether to stop: after a look that decides, or that leaves nothing to decide."""
    return asked in look_sizes(questions) and (
        outcome_at(differences, asked, questions) is not Outcome.UNDECIDED
        or not can_still_decide(differences, asked, questions)
    )


# --- What it can show


def spread(differences: Floats) -> float:
    """Return the mean square of paired differences: of right and wrong, the share that differs."""
    return float((differences**2).mean()) if len(differences) else USUAL_SPREAD


def earlier_spread(columns: Columns, trial: Trial) -> float:
    """Return the spread between the incumbent and all others of an earlier run."""
    others = [member for member in columns.members if member != trial.incumbent]
    found = [paired_differences(columns, replace(trial, candidate=x)) for x in others]
    differences = np.concatenate([*found, np.array([])])
    # Models that never differed so far may differ on the next question.
    return max(spread(differences), 1 / len(differences)) if len(differences) else USUAL_SPREAD


def detectable_difference(questions: int, spread_: float = USUAL_SPREAD) -> float:
    """Return the difference that so many questions can show, 0 to 1."""
    return min(1.0, BOUND * sqrt(spread_ / questions)) if questions else 1.0


def questions_to_settle(spread_: float) -> int:
    """Return how many questions can show a difference of 5 points."""
    return ceil(spread_ * (BOUND / SETTLED) ** 2)


# --- What it shows


@dataclass(frozen=True, slots=True)
class Side:
    """How one of the two fared on the questions asked; `score` is a mean grade or share.

    `right` is None unless each answer is right or wrong. The judges `preferred` it on so many
    questions, None where grades decide. Cost and seconds are means over its
    answers, its own of an earlier round where these were used again; None if unknown.
    """

    member: str
    score: float | None
    right: int | None
    preferred: int | None
    absences: int
    cost_usd: float | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class TrialResult:
    """What a trial shows so far: after `asked` of the `questions` that count.

    `compared` are those on which both have a grade, or were ranked; the `difference` is the
    candidate's mean minus the incumbent's, and `error` what further questions may move it by.
    """

    candidate: Side
    incumbent: Side
    asked: int
    questions: int
    compared: int
    outcome: Outcome
    difference: float
    error: float
    spread: float
    is_ranked: bool = False


def paired_differences(columns: Columns, trial: Trial) -> Floats:
    """Return candidate minus incumbent, −1 to 1, for each round that compares them.

    They are of grades or, where it is ranked, of shares among the judges outside the pair. A model
    that gave no answer lost against one that did.
    """
    first, second = (_index(columns, key) for key in (trial.candidate, trial.incumbent))
    if first is None or second is None:
        return np.array([])
    if not trial.is_ranked:
        grades = answer_grades(columns)
        return known_values(grades[:, first] - grades[:, second])
    margins, absent = columns.margin(trial.candidate, trial.incumbent), columns.author("absent")
    missed = absent[:, second] - absent[:, first]
    is_missed = np.isnan(margins) & (absent[:, [first, second]] == 1).any(axis=1)
    return known_values(np.where(is_missed, missed, margins))


def trial_result(
    columns: Columns, trial: Trial, questions: int, *, is_over: bool = True
) -> TrialResult:
    """Return the result of the closed rounds of a trial, with both models' records.

    One that is not over has decided nothing.
    """
    asked, known = len(columns.rows), paired_differences(columns, trial)
    # Had one more question differed, equal models would not look certain.
    spread_ = max(spread(known), 1 / max(1, len(known)))
    outcome = outcome_at(known, asked, questions) if is_over and asked else Outcome.UNDECIDED
    won, lost = int((known > PRECISION).sum()), int((known < -PRECISION).sum())
    return TrialResult(
        candidate=_side(columns, trial.candidate, won if trial.is_ranked else None),
        incumbent=_side(columns, trial.incumbent, lost if trial.is_ranked else None),
        asked=asked,
        questions=questions,
        compared=len(known),
        outcome=outcome,
        difference=float(known.mean()) if len(known) else 0.0,
        error=detectable_difference(len(known), spread_),
        spread=spread_,
        is_ranked=trial.is_ranked,
    )


def _index(columns: Columns, member: str) -> int | None:
    return columns.members.index(member) if member in columns.members else None


def _side(columns: Columns, member: str, preferred: int | None) -> Side:
    index = _index(columns, member)
    if index is None:
        return Side(member, None, None, preferred, 0, None, None)

    def mean(values: Floats) -> float | None:
        """Return the mean of the known values without the digits that single precision invents."""
        found = mean_or_none(known_values(values))
        return None if found is None else float(f"{found:.7g}")

    correct, grades = right_answers(columns)[:, index], answer_grades(columns)[:, index]
    is_counted = preferred is None and np.array_equal(grades, correct, equal_nan=True)
    return Side(
        member=member,
        score=mean(grades if preferred is None else columns.author("share")[:, index]),
        right=int(np.nansum(correct)) if is_counted else None,
        preferred=preferred,
        absences=int(np.nansum(columns.author("absent")[:, index])),
        cost_usd=mean(columns.author("cost_usd")[:, index]),
        seconds=mean(columns.author("seconds")[:, index]),
    )
