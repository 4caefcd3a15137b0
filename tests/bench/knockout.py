"""What a knock-out by pairs costs and finds, next to blind ranking, against the targets.

    python -m tests.bench.knockout [--rounds 5000]

Eight members answer and judge, simulated as by `council simulate`; brackets and judges are drawn as
in a round. Found: how often the winner is one of the two truly best answers; of answers that share
the first place, the share of them that are. Tokens are estimated from the real prompts, for answers
of so many tokens and replies of 150. The exit code is 1 if a target is missed.
"""

import argparse
import sys
from dataclasses import replace

import numpy as np

from council.bakeoffs.record_arrays import Floats, Indexes
from council.prompts.ballot import BallotPrompt, judge_prompt
from council.prompts.shared import BYTES_PER_TOKEN, DEFAULT_RUBRIC, estimate_tokens
from council.research.methods.pairwise_elimination import Knockout
from council.research.simulated_judges import (
    FAIR,
    STRONG,
    SimulatedRounds,
    cast_votes,
    simulated_rounds,
    uniform_panel,
)
from council.rounds import Question

MEMBERS, ROUNDS, SEED = 8, 5_000, "knockout"
MAX_TOKENS, MAX_LOSS = 0.7, 0.05  # of blind ranking's; of the rate
REPLY_TOKENS = 150
QUESTION = Question("Which database should we use for a job queue, and why? " * 3)


def judging_tokens(slots: int, ballots: int, answer_tokens: int) -> int:
    """Return what all ballots on so many answers read and write."""
    text = "x" * (answer_tokens * BYTES_PER_TOKEN)
    sheet = BallotPrompt(dict.fromkeys("ABCDEFGH"[:slots], text), "0" * 16)
    prompt = judge_prompt(QUESTION, DEFAULT_RUBRIC, sheet)
    return ballots * (estimate_tokens(prompt.system + prompt.user) + REPLY_TOKENS)


def blind_hits(rounds: SimulatedRounds) -> Floats:
    """Return by round the part of blind ranking's first places that are of the two best."""
    shares = np.nanmean(rounds.counted.by_member(MEMBERS), axis=1)
    first = shares >= shares.max(axis=1, keepdims=True) - 1e-9
    best = _best_two(rounds.answers.worth)
    hits: Floats = (first & best).sum(axis=1) / first.sum(axis=1)
    return hits


def knockout_hits(rounds: SimulatedRounds, seed: str) -> tuple[Floats, float]:
    """Return by round whether the last one left is of the two best, and the share of ties."""
    # No judge meets its own answer, so that only chance tells judges apart.
    panel = uniform_panel(MEMBERS, replace(rounds.panel.biases[0], own=0.0))
    rng = np.random.RandomState(MEMBERS)
    count = len(rounds.labels)
    draws = [Knockout(labels, (), f"{seed} {i}") for i, labels in enumerate(rounds.labels)]
    seats = [{label: i for i, label in enumerate(one.labels.labels)} for one in draws]
    left: Indexes = np.array(
        [[seat[x] for x in one.entrants] for one, seat in zip(draws, seats, strict=True)]
    )
    ties, matches = 0, 0
    while left.shape[1] > 1:
        pairs = left.reshape(count, -1, 2)
        shown = np.concatenate([pairs] * (MEMBERS // pairs.shape[1]), axis=1)
        first = cast_votes(panel, rounds.answers, shown, rng).places[:, : pairs.shape[1], 0] == 1
        again = cast_votes(panel, rounds.answers, shown[:, :, ::-1], rng)
        second = again.places[:, : pairs.shape[1], 1] == 1
        is_tie = first != second
        lot = rng.random_sample(first.shape) < 0.5
        first_wins = np.where(is_tie, lot, first)
        left = np.where(first_wins, pairs[:, :, 0], pairs[:, :, 1])
        ties, matches = ties + int(is_tie.sum()), matches + is_tie.size
    is_best = np.take_along_axis(_best_two(rounds.answers.worth), left, axis=1)[:, 0]
    return is_best.astype(float), ties / matches


def _best_two(worth: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    second = np.sort(worth, axis=1)[:, -2][:, None]
    return np.asarray(worth >= second)


def main() -> int:
    """Print both tables; return 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    count = parser.parse_args().rounds
    missed = False
    print(f"Tokens of the rankings at n = {MEMBERS}, as a share of blind ranking's")
    for tokens in (100, 300, 500, 1_000):
        knockout = judging_tokens(2, 2 * (MEMBERS - 1), tokens)
        blind = judging_tokens(MEMBERS - 1, MEMBERS, tokens)
        print(
            f"  answers of {tokens:5} tokens: {knockout:7,} of {blind:7,}, {knockout / blind:.2f}"
        )
        missed |= tokens == 500 and knockout / blind > MAX_TOKENS
    print(f"Winner among the true best two, {count:,} rounds")
    for name, biases in (("no bias", FAIR), ("strong bias", STRONG)):
        rounds = simulated_rounds(uniform_panel(MEMBERS, biases), count, SEED)
        blind_rate = float(blind_hits(rounds).mean())
        hits, ties = knockout_hits(rounds, SEED)
        loss = blind_rate - float(hits.mean())
        verdict = "MISSED" if loss > MAX_LOSS else "met"
        print(
            f"  {name:11}: blind-ranking {blind_rate:.3f}, pairwise-elimination {hits.mean():.3f} "
            f"(loss {loss:+.3f}, allowed {MAX_LOSS}: {verdict}); ties {ties:.2f} of matches",
            flush=True,
        )
        missed |= loss > MAX_LOSS
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
