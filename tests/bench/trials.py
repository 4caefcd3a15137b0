"""What trials claim of equal and of better models, with their four looks, and what they cost.

Equal models: a wrong "switch" or "keep" in at most 5 % of suites, also of small ones. Money is that
of the tokens of a run of five models, at one price for all.
"""

import sys

import numpy as np

from council.bakeoffs.record_arrays import Floats
from council.bakeoffs.trial import Outcome, detectable_difference, is_settled, look_sizes
from council.bakeoffs.trial import outcome_at as decide

TRIALS = 2_000
MOST_FALSE = 0.05
QUESTIONS = 48
DISCORDANT = 0.19
ANSWER, QUESTION, RUBRIC, BALLOT = 300, 100, 600, 150  # tokens of a usual round
PRICE_OUT = 5  # of a written token, in read ones


def run_trial(differences: Floats) -> tuple[Outcome, int]:
    """Return what a trial of these questions says, and after how many."""
    questions = len(differences)
    for asked in look_sizes(questions):
        if is_settled(differences[:asked], asked, questions):
            break
    return decide(differences[:asked], asked, questions), asked


def graded(draw: np.random.RandomState, questions: int, discordant: float, lead: float) -> Floats:
    """Return differences of right and wrong answers."""
    odds = [(discordant - lead) / 2, 1 - discordant, (discordant + lead) / 2]
    return draw.choice([-1.0, 0.0, 1.0], p=odds, size=questions)


def ranked(draw: np.random.RandomState, questions: int, lead: float) -> Floats:
    """Return margins of shares among four judges that agree in part, in steps as ballots give."""
    margins = lead + draw.normal(0, 0.35, questions) + draw.normal(0, 0.5, (4, questions)).mean(0)
    return np.asarray(np.clip(np.round(margins * 10) / 10, -1, 1))


def claimed(runs: list[tuple[Outcome, int]]) -> float:
    """Return the share of trials that said switch or keep."""
    return sum(one is not Outcome.UNDECIDED for one, _ in runs) / len(runs)


def false_claims(trials: int) -> dict[str, float]:
    """Return the share of wrong claims about equal models, by suite."""
    draw, found = np.random.RandomState(20261127), {}
    for questions in (10, 12, 24, QUESTIONS, 200):
        for discordant in (0.1, DISCORDANT, 0.5, 0.8):
            runs = [run_trial(graded(draw, questions, discordant, 0)) for _ in range(trials)]
            name = f"{questions} graded, {discordant:.0%} discordant"
            found[name] = claimed(runs)
        runs = [run_trial(ranked(draw, questions, 0)) for _ in range(trials)]
        found[f"{questions} ranked"] = claimed(runs)
    return found


def ballot_cost(answers: int) -> float:
    """Return what one ballot on so many answers costs, in read tokens."""
    return RUBRIC + QUESTION + answers * ANSWER + PRICE_OUT * BALLOT


def full_run() -> float:
    """Return what a question costs a panel of five that judges in both orders."""
    answers = 5 * (QUESTION + PRICE_OUT * ANSWER)
    return answers + 10 * ballot_cost(4) + RUBRIC + 5 * ANSWER + PRICE_OUT * ANSWER


def main() -> None:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS
    wrong = false_claims(trials)
    for name, share in wrong.items():
        print(f"equal models, {name}: {share:.3f} wrong")
    draw = np.random.RandomState(1)
    shown = detectable_difference(QUESTIONS)
    print(f"{QUESTIONS} questions can show ±{shown:.0%} at {DISCORDANT:.0%} discordant")
    for lead in (0.1, 0.15, 0.2, 0.3):
        runs = [
            run_trial(graded(draw, QUESTIONS, max(DISCORDANT, lead + 0.04), lead))
            for _ in range(trials)
        ]
        power = np.mean([one is Outcome.SWITCH for one, _ in runs])
        asked = np.mean([asked for _, asked in runs])
        print(f"better by {lead:.0%}: found in {power:.3f}, after {asked:.0f} questions")
    answer = QUESTION + PRICE_OUT * ANSWER
    print(f"money, graded: {answer / full_run():.3f} of a full run, if all questions are asked")
    runs = [run_trial(ranked(draw, QUESTIONS, 0.4)) for _ in range(trials)]
    asked = np.mean([asked for _, asked in runs]) / QUESTIONS
    # Four others rank five answers (of six, without their own) in both orders.
    question = answer + 8 * ballot_cost(5)
    print(f"money, ranked with a clear lead: {asked * question / full_run():.3f} of a full run")
    # A 2-sigma allowance for the number of simulated suites.
    most = MOST_FALSE + 2 * (MOST_FALSE * (1 - MOST_FALSE) / trials) ** 0.5
    if max(wrong.values()) > most:
        sys.exit(f"Equal models were told apart in more than {MOST_FALSE:.0%} of suites.")


if __name__ == "__main__":
    main()
