"""Judge weights on LLMBar: how often weighed judges agree with gold labels that no weight has seen.

Six judges, 415 pairs of answers, both orders, vanilla prompts. Reads ../shared/data/llmbar, which

    python -m tests.bench.llmbar CLONE

writes from a clone of https://github.com/princeton-nlp/LLMBar.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from council.bakeoffs.record_arrays import Floats
from council.research.judge_weights import RoundShares, peer_rank, weighted_shares
from council.tally.consistency import SHRINKAGE, Repeats, consistency_weights

DATA = Path(__file__).parents[3] / "shared" / "data" / "llmbar"
SETS = {  # by name: the subset and the prompt; people labelled the last three
    "LLMBar": ("LLMBar/", "Vanilla"),
    "MT-Bench": ("Processed/MT-Bench", "Vanilla_NoRules"),
    "LLMEval²": ("Processed/LLMEval^2", "Vanilla_NoRules"),
    "FairEval": ("Processed/FairEval", "Vanilla_NoRules"),
}
SPLITS = 400
_SEED = 20261121


def write_verdicts(clone: Path) -> None:
    """Write the verdicts of a clone, one a line; an item without a reply is left out.

    A line is subset, item, judge, prompt, gold label, and what won in either order, 0 if unclear.
    """
    DATA.mkdir(parents=True, exist_ok=True)
    dataset = clone / "Dataset"
    with (DATA / "llmbar_verdicts.jsonl").open("w", encoding="utf-8") as file:
        for path in sorted(dataset.glob("**/evaluators/*/*/result.json")):
            *subset, _, judge, prompt, _ = path.relative_to(dataset).parts
            for item, entry in enumerate(json.loads(path.read_text(encoding="utf-8"))):
                replies = (entry.get("results") or [{}])[0]
                told = [replies.get(f"swap = {swap}") for swap in (False, True)]
                if all(told):
                    won = [{"1": 1, "2": 2}.get(str(one.get("winner")), 0) for one in told]
                    line = ["/".join(subset), item, judge, prompt, entry["label"], *won]
                    file.write(f"{json.dumps(line)}\n")


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What judges chose, (item, judge, order), 1 for the first answer, 0 for the second.

    `gold` is 1 or 0 for each item.
    """

    judges: tuple[str, ...]
    chosen: Floats
    gold: Floats

    @property
    def kept(self) -> Floats:
        """Whether a judge chose the same in both orders, (item, judge)."""
        return np.equal(self.chosen[:, :, 0], self.chosen[:, :, 1]).astype(float)

    def only(self, items: "np.ndarray[tuple[int], np.dtype[np.intp]]") -> "Verdicts":
        """Return some of the items."""
        return Verdicts(self.judges, self.chosen[items], self.gold[items])


def read(name: str = "LLMBar") -> Verdicts:
    """Return the items of a set on which every judge chose in both orders."""
    wanted, with_prompt = SETS[name]
    chosen: dict[tuple[str, int], dict[str, tuple[int, int, int]]] = {}
    with (DATA / "llmbar_verdicts.jsonl").open(encoding="utf-8") as file:
        for subset, item, judge, prompt, *verdict in map(json.loads, file):
            if prompt == with_prompt and subset.startswith(wanted):
                chosen.setdefault((subset, item), {})[judge] = tuple(verdict)
    judges = tuple(sorted({judge for of in chosen.values() for judge in of}))
    whole = [of for _, of in sorted(chosen.items()) if len(of) == len(judges)]
    told = np.array([[of[judge] for judge in judges] for of in whole])
    return Verdicts(judges, (told[:, :, 1:] == 1).astype(float), (told[:, 0, 0] == 1).astype(float))


def write_judgments(name: str, path: Path) -> None:
    """Write the same items as lines that `tests.bench.aggregation` reads."""
    verdicts = read(name)
    names = np.array(["1", "2"])
    with path.open("w", encoding="utf-8") as file:
        for item, (chosen, gold) in enumerate(zip(verdicts.chosen, verdicts.gold, strict=True)):
            lines = [{"item": item, "human": names[int(gold == 0)]}]
            for judge, both in zip(verdicts.judges, chosen, strict=True):
                for order, first in zip((names, names[::-1]), both, strict=True):
                    winner = names[int(first == 0)]  # no choice counts as the second
                    lines.append(
                        {"item": item, "judge": judge, "order": [*order], "winner": winner}
                    )
            file.writelines(f"{json.dumps(line)}\n" for line in lines)


def agreement(verdicts: Verdicts, weights: Mapping[str, float]) -> float:
    """Return the share of items whose gold answer weighted judges put first, in both orders.

    Counted as rounds are: a judge of two minds ties the answers. A tie of all is half.
    """
    first = verdicts.chosen.mean(axis=2)
    shares = np.stack([first, 1 - first], axis=2)
    items = tuple(map(str, range(len(shares))))
    given = RoundShares(items, verdicts.judges, verdicts.judges, ("first", "second"), shares)
    found = weighted_shares(given, given.weights_by_judge(weights))[:, 0]
    right = np.where(verdicts.gold == 1, found, 1 - found)
    return float((right > 0.5 + 1e-9).mean() + (np.abs(right - 0.5) <= 1e-9).mean() / 2)


def uniform(verdicts: Verdicts) -> Mapping[str, float]:
    return dict.fromkeys(verdicts.judges, 1 / len(verdicts.judges))


def consistency(verdicts: Verdicts, shrunk: float = SHRINKAGE) -> Mapping[str, float]:
    """Weigh by the orders kept on these items, as the product does on audit repeats."""
    own = zip(verdicts.judges, verdicts.kept.mean(axis=0), strict=True)
    repeats = {judge: Repeats(len(verdicts.gold), float(kept)) for judge, kept in own}
    return consistency_weights(repeats, shrunk).weights


def peers(verdicts: Verdicts) -> Mapping[str, float]:
    """Weigh by PeerRank, verdicts in the place of answers: judges wrote none here.

    How often c wins with j is how often their verdicts agree.
    """
    held = verdicts.chosen.reshape(-1, len(verdicts.judges), 2)
    rates = (held[:, :, None, :] == held[:, None, :, :]).mean(axis=(0, 3))
    np.fill_diagonal(rates, np.nan)
    return dict(zip(verdicts.judges, peer_rank(rates).weights.tolist(), strict=True))


def alone(verdicts: Verdicts) -> Iterator[tuple[str, float]]:
    """Return each judge's agreement separately."""
    for judge in verdicts.judges:
        yield judge, agreement(verdicts, dict.fromkeys(verdicts.judges, 0.0) | {judge: 1.0})


def held_out(verdicts: Verdicts, seen: int, shrunk: float) -> tuple[float, float]:
    """Return the mean agreement, and that of the worst twentieth, on held-out items.

    Weights come from `seen` items drawn anew each time.
    """
    draws = np.random.RandomState(_SEED)
    found = []
    for _ in range(SPLITS):
        order = draws.permutation(len(verdicts.gold))
        weights = consistency(verdicts.only(order[:seen]), shrunk)
        found.append(agreement(verdicts.only(order[seen:]), weights))
    return float(np.mean(found)), float(np.quantile(found, 0.05))


def main() -> None:
    if sys.argv[1:]:
        write_verdicts(Path(sys.argv[1]))
    if not DATA.exists():
        print(f"{DATA} is not there, so there is nothing to measure.")
        return
    verdicts = read()
    print(f"{len(verdicts.gold)} items, {len(verdicts.judges)} judges, both orders\n")
    best, own = max(alone(verdicts), key=lambda one: one[1])
    for name, found in (
        ("uniform", agreement(verdicts, uniform(verdicts))),
        ("consistency, unshrunk", agreement(verdicts, consistency(verdicts, 0.0))),
        ("consistency, a quarter shrunk", agreement(verdicts, consistency(verdicts))),
        ("consistency, half shrunk", agreement(verdicts, consistency(verdicts, 0.5))),
        ("PeerRank on verdicts, floor .25", agreement(verdicts, peers(verdicts))),
        (f"best judge alone ({best})", own),
    ):
        print(f"{name:38} {found:.3f}")
    print(f"\nOn items that gave no weights, mean and worst twentieth of {SPLITS} draws:")
    print(f"{'weights from':14}" + "".join(f"{name:>16}" for name in ("none", "tenth", "quarter")))
    for seen in (20, 40, 100, 207):
        rows = [held_out(verdicts, seen, shrunk) for shrunk in (0.0, 0.1, 0.25)]
        print(f"{seen:4} items    " + "".join(f"{m:>10.3f} {low:.3f}" for m, low in rows))


if __name__ == "__main__":
    main()
