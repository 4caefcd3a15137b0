"""How often each count agrees with people, on anyone's judgments.

    python -m tests.bench.aggregation DIR

Reads every *.jsonl file of the folder; `council export --as judgments` writes such files. A line is
a judge's ranking of what it was shown, best first (ties in one place, or "winner": null), or what a
person said of the same item. Other keys are ignored.

    {"item": "q1", "judge": "gpt", "order": ["a", "b"], "winner": "a"}
    {"item": "q1", "judge": "gpt", "order": ["b", "a"], "ranking": [["a"], ["b"]], "family": "gpt"}
    {"item": "q1", "human": "a"}
    {"item": "q1", "human": [["a"], ["b", "c"]]}

A judge's first line on an item is its first order, its others are repeats in other orders. An
answer that is named as the judge is that judge's own. Agreement is the share of the pairs a person
ordered that the count orders alike, a tie half; the unit of all intervals is the item.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from statistics import fmean

import numpy as np

from council.bakeoffs.intervals import mean_interval
from council.ballots import Ballot, Ranking
from council.labels import Label
from council.model_families import family_of
from council.randomness import shuffle
from council.research.judge_weights import RoundShares, peer_weights
from council.tally.agreement import compare_rankings
from council.tally.borda import TOLERANCE, borda_shares, pair_matrix, pair_share, ranks
from council.tally.consistency import MIN_REPEATS, Repeats, consistency_weights

MAX_FILE_BYTES, MAX_LINE_BYTES = 500_000_000, 64_000
MAX_NAME, MAX_ANSWERS, MAX_JUDGES = 200, 26, 100
DRAWS = 25  # of the twenty repeats that weights come from
EXAMPLE = '{"item": "q1", "judge": "gpt", "order": ["a", "b"], "winner": "a"}'

Scores = Mapping[Label, float]


class LineError(Exception):
    """A line that cannot be used: file, line, what is wrong and what to do."""


@dataclass
class Item:
    """The rankings of one item by judge, first order first, and what people said of it."""

    cast: dict[str, list[Ballot]] = field(default_factory=dict)
    human: list[Ranking] = field(default_factory=list)
    where: dict[tuple[str, tuple[Label, ...]], str] = field(default_factory=dict)

    def ballots(self, *, own: bool = False, again: bool = False) -> list[Ballot]:
        """Return the rankings, of the first order or all, without judges' own answers or with."""
        chosen = [one for cast in self.cast.values() for one in (cast if again else cast[:1])]
        cut = chosen if own else [_without(ballot, Label(ballot.judge)) for ballot in chosen]
        return [ballot for ballot in cut if len(ballot.shown) > 1]


def _without(ballot: Ballot, label: Label) -> Ballot:
    shown = tuple(x for x in ballot.shown if x != label)
    places = (tuple(x for x in place if x != label) for place in ballot.ranking)
    return Ballot(ballot.judge, shown, tuple(filter(None, places)), pass_number=ballot.pass_number)


@dataclass
class Judgments:
    """All items of a folder, and the family of each judge."""

    items: dict[str, Item] = field(default_factory=dict)
    families: dict[str, str] = field(default_factory=dict)


# --- Reading


def read(folder: Path) -> Judgments:
    """Return the judgments of a folder; raise LineError for the first line that is wrong."""
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise LineError(f"{folder} has no *.jsonl files. Write one, with lines such as {EXAMPLE}.")
    found, human = Judgments(), list[tuple[str, str, Ranking]]()
    for path in files:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise LineError(f"{path.name} is larger than {MAX_FILE_BYTES:,} bytes. Split it.")
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    _read_line(line, f"{path.name}, line {number}", found, human)
    for where, name, ranking in human:  # a person's line may come before the judges'
        item = found.items.get(name)
        if item is None:
            raise LineError(f"{where}: no judge ranked item {name!r}. Remove the line.")
        known = {label for cast in item.cast.values() for one in cast for label in one.shown}
        if unknown := {label for place in ranking for label in place} - known:
            raise LineError(
                f"{where}: no judge saw {sorted(unknown)[0]!r}. Use the names in “order”."
            )
        item.human.append(_best_of(ranking, known))
    if not found.items:
        raise LineError(f"{folder} has no judgments. Write lines such as {EXAMPLE}.")
    return found


def _best_of(ranking: Ranking, known: set[Label]) -> Ranking:
    """Return a person's ranking; a single best answer is above all others."""
    rest = tuple(sorted(known - set(ranking[0])))
    return (*ranking, rest) if len(ranking) == 1 and rest else ranking


def _read_line(
    line: bytes, where: str, found: Judgments, human: list[tuple[str, str, Ranking]]
) -> None:
    if len(line) > MAX_LINE_BYTES:
        raise LineError(f"{where}: longer than {MAX_LINE_BYTES:,} bytes.")
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise LineError(f"{where}: not a JSON object. Write lines such as {EXAMPLE}.")
    item = _name(row, "item", where)
    if "human" in row:
        given = row["human"]
        places = _places([[given]] if isinstance(given, str) else given, "human", where)
        human.append((where, item, places))
        return
    judge = _name(row, "judge", where)
    order = _order(row, where)
    _add(found, item, Ballot(judge, order, _ranking(row, order, where)), where)
    family = row.get("family")
    if isinstance(family, str) and family:
        found.families[judge] = family
    found.families.setdefault(judge, _family(judge))


def _family(judge: str) -> str:
    family = family_of(judge)
    return f"unknown:{judge}" if family.startswith("unknown:") else family


def _add(found: Judgments, name: str, ballot: Ballot, where: str) -> None:
    item = found.items.setdefault(name, Item())
    before = item.where.setdefault((ballot.judge, ballot.shown), where)
    if before != where:
        raise LineError(
            f"{where}: {before} has {ballot.judge!r} on the same item in the same order already. "
            "Keep one of them."
        )
    cast = item.cast.setdefault(ballot.judge, [])
    if cast and set(cast[0].shown) != set(ballot.shown):
        raise LineError(f"{where}: {ballot.judge!r} saw other answers before. Name another item.")
    cast.append(Ballot(ballot.judge, ballot.shown, ballot.ranking, pass_number=len(cast) + 1))
    if len(found.families.keys() | {ballot.judge}) > MAX_JUDGES:
        raise LineError(f"{where}: more than {MAX_JUDGES} judges. Is “judge” who ranked?")


def _name(row: Mapping[str, object], key: str, where: str) -> str:
    value = row.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not 0 < len(value) <= MAX_NAME:
        raise LineError(f"{where}: “{key}” must be a text of 1 to {MAX_NAME} characters.")
    return value


def _order(row: Mapping[str, object], where: str) -> tuple[Label, ...]:
    order = row.get("order")
    if not isinstance(order, list) or not 1 < len(order) <= MAX_ANSWERS:
        raise LineError(
            f"{where}: “order” must list the 2 to {MAX_ANSWERS} answers as the judge saw them."
        )
    places = _places([[one] for one in order], "order", where)
    return tuple(label for place in places for label in place)


def _places(value: object, key: str, where: str) -> Ranking:
    """Return a ranking whose places are names or lists of names, each name once."""
    places: list[tuple[Label, ...]] = []
    for one in value if isinstance(value, list) else ():
        place = one if isinstance(one, list) else [one]
        if not place or not all(isinstance(x, str) and 0 < len(x) <= MAX_NAME for x in place):
            break
        places.append(tuple(map(Label, place)))
    named = [label for place in places for label in place]
    if not isinstance(value, list) or not value or len(places) < len(value):
        raise LineError(f"{where}: “{key}” must hold names of answers, best first.")
    if len({*named}) < len(named):
        raise LineError(f"{where}: “{key}” names an answer twice.")
    return tuple(places)


def _ranking(row: Mapping[str, object], order: tuple[Label, ...], where: str) -> Ranking:
    if "ranking" in row:
        ranking = _places(row["ranking"], "ranking", where)
        if {label for place in ranking for label in place} != {*order}:
            raise LineError(f"{where}: “ranking” must hold the answers in “order”, each once.")
        return ranking
    if "winner" not in row:
        raise LineError(f"{where}: has neither “winner”, “ranking” nor “human”.")
    winner = row["winner"]
    if winner is None:
        return (order,)
    if winner not in order:
        raise LineError(f"{where}: the winner {str(winner)[:50]!r} is not in “order”.")
    return ((Label(str(winner)),), tuple(label for label in order if label != winner))


# --- Counts


Count = Callable[[str, Item], Scores]


def mean_rank(_: str, item: Item) -> Scores:
    """Return minus the mean rank, own answers included: the original llm-council's count."""
    found: dict[Label, list[float]] = {}
    for ballot in item.ballots(own=True):
        for label, rank in ranks(ballot.ranking).items():
            found.setdefault(label, []).append(-rank)
    return {label: fmean(values) for label, values in found.items()}


def pair_shares(ballots: Sequence[Ballot], weights: Mapping[str, float] | None = None) -> Scores:
    """Return the official share of each answer."""
    matrix = pair_matrix(ballots, weights)
    shares = {label: pair_share(label, matrix) for ballot in ballots for label in ballot.shown}
    return {label: share for label, share in shares.items() if share is not None}


def official(_: str, item: Item) -> Scores:
    return pair_shares(item.ballots())


def both_orders(_: str, item: Item) -> Scores:
    return pair_shares(item.ballots(again=True))


def kept_shares(judgments: Judgments) -> dict[str, dict[str, float]]:
    """Return for each judge the share of pairs it kept in order, by item with a repeat."""
    found: dict[str, dict[str, float]] = {judge: {} for judge in judgments.families}
    for name, item in judgments.items.items():
        for judge, (first, *others) in item.cast.items():
            changes = [compare_rankings(first.ranking, one.ranking) for one in others]
            if changes:
                found[judge][name] = fmean(1 - one.changed / one.pairs for one in changes)
    return found


def _usable(kept: Mapping[str, Iterable[float]]) -> Mapping[str, float] | None:
    lists = {judge: [*values] for judge, values in kept.items()}
    repeats = {j: Repeats(len(each), fmean(each) if each else 0.0) for j, each in lists.items()}
    weights = consistency_weights(repeats)
    # A judge that weighs nothing would leave pairs that it alone saw without any weight.
    return {j: w + 1e-12 for j, w in weights.weights.items()} if weights.is_usable else None


def by_consistency(judgments: Judgments) -> Count | None:
    """Return both orders, weighted by all repeats on other items; None with too few."""
    kept = kept_shares(judgments)
    if _usable({judge: [*each.values()][1:] for judge, each in kept.items()}) is None:
        return None  # twenty must be left without any item

    def count(name: str, item: Item) -> Scores:
        others = {j: (v for x, v in each.items() if x != name) for j, each in kept.items()}
        return pair_shares(item.ballots(again=True), _usable(others))

    return count


def by_twenty(judgments: Judgments, draw: int) -> Count | None:
    """Return the first order alone, weighted by twenty repeats of each judge, drawn by number."""
    kept = kept_shares(judgments)
    weights = _usable(
        {
            judge: [each[x] for x in shuffle(each, f"{draw}", judge)[:MIN_REPEATS]]
            for judge, each in kept.items()
        }
    )
    return None if weights is None else lambda _, item: pair_shares(item.ballots(), weights)


def by_family(judgments: Judgments) -> Count:
    """Return the first order, one voice for each family."""

    def count(_: str, item: Item) -> Scores:
        ballots = item.ballots()
        seats = Counter(judgments.families[ballot.judge] for ballot in ballots)
        weights = {b.judge: 1 / seats[judgments.families[b.judge]] for b in ballots}
        return pair_shares(ballots, weights)

    return count


def by_peer_rank(judgments: Judgments) -> Count | None:
    """Return the first order, weighted by PeerRank; None unless two judges also wrote answers."""
    rounds = [*_rounds(judgments)]
    if len({member for one in rounds for member in one.members}) < 2:
        return None
    weights = peer_weights(rounds).weights
    return lambda _, item: pair_shares(item.ballots(), weights)


def _rounds(judgments: Judgments) -> Iterator[RoundShares]:
    for name, item in judgments.items.items():
        shares = {b.judge: borda_shares(b.ranking) for b in item.ballots()}
        shown = dict.fromkeys(label for share in shares.values() for label in share)
        members = tuple(label for label in shown if label in judgments.families)
        cells = [[share.get(m, np.nan) for m in members] for share in shares.values()]
        if members:
            makers = tuple(judgments.families[judge] for judge in shares)
            yield RoundShares((name,), (*shares,), makers, members, np.array([cells], float))


# --- Agreement


def agreement(scores: Scores, human: Ranking) -> float | None:
    """Return the share of a person's ordered pairs that scores order alike; None without any."""
    hits = [
        0.5
        if abs(scores[better] - scores[worse]) <= TOLERANCE
        else float(scores[better] > scores[worse])
        for above, below in combinations(human, 2)
        for better in above
        for worse in below
        if better in scores and worse in scores
    ]
    return fmean(hits) if hits else None


def by_item(judgments: Judgments, count: Count) -> dict[str, float]:
    """Return a count's agreement on each item with a person's word, over all people."""
    found: dict[str, float] = {}
    for name, item in judgments.items.items():
        if item.human:
            scores = count(name, item)
            each = [one for human in item.human if (one := agreement(scores, human)) is not None]
            if each:
                found[name] = fmean(each)
    return found


@dataclass(frozen=True)
class Row:
    """A count's agreement by item; empty with too little data, for the reason in `missing`."""

    name: str
    by_item: Mapping[str, float]
    missing: str = ""

    def compared(self, other: "Row") -> str:
        """Return the mean difference on common items with its paired 95 % interval."""
        common = [name for name in self.by_item if name in other.by_item]
        values = np.array([self.by_item[name] - other.by_item[name] for name in common])
        if len(values) < 2 or self is other:
            return "–"
        low, high = mean_interval(values) if np.ptp(values) else (values[0], values[0])
        return f"{values.mean():+.3f} [{low:+.3f}, {high:+.3f}]"


ORIGINAL, OFFICIAL = "original llm-council: mean rank, own answers in", "official"


def measure(judgments: Judgments) -> list[Row]:
    """Return the agreement of every count."""
    unlabelled = "no judge ranked two answers that a person ordered"
    few = f"no judge has {MIN_REPEATS} items in two orders"
    drawn = [count for i in range(DRAWS) if (count := by_twenty(judgments, i))]
    twenty = [by_item(judgments, count) for count in drawn]
    peers, steady = by_peer_rank(judgments), by_consistency(judgments)
    return [
        Row(ORIGINAL, by_item(judgments, mean_rank), unlabelled),
        Row(OFFICIAL, by_item(judgments, official), unlabelled),
        Row("both orders", by_item(judgments, both_orders), unlabelled),
        Row(
            "both orders, weighted by consistency",
            by_item(judgments, steady) if steady else {},
            few,
        ),
        Row(
            f"official, weighted by consistency on {MIN_REPEATS} repeats",
            {name: fmean(one[name] for one in twenty) for name in (twenty[0] if twenty else ())},
            few,
        ),
        Row(
            "official, one voice for each family",
            by_item(judgments, by_family(judgments)),
            unlabelled,
        ),
        Row(
            "official, weighted by PeerRank",
            by_item(judgments, peers) if peers else {},
            "no judge wrote an answer",
        ),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 2 if a line is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    try:
        judgments = read(parser.parse_args(arguments).folder)
    except (LineError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    items = judgments.items.values()
    twice = sum(all(len(cast) > 1 for cast in item.cast.values()) for item in items)
    labelled = sum(bool(item.human) for item in items)
    print(
        f"{len(items):,} items, {len(judgments.families)} judges; {twice:,} items in both orders "
        f"from every judge; {labelled:,} with people's labels\n"
    )
    if not labelled:
        print('No line says what a person thinks, so nothing can be compared. Add "human" lines.')
        return 0
    rows = measure(judgments)
    print(f"{'count':52} {'items':>6} {'agrees':>7}  {'− original [95 %]':25}  − official [95 %]")
    for row in rows:
        if not row.by_item:
            print(f"{row.name:52} {'':6} {'–':>7}  ({row.missing})")
            continue
        mean = fmean(row.by_item.values())
        against = f"{row.compared(rows[0]):25}  {row.compared(rows[1])}"
        print(f"{row.name:52} {len(row.by_item):6,} {mean:7.3f}  {against}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
