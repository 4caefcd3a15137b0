"""How often each count agrees with people, on anyone's judgments.

    python -m tests.bench.aggregation [DIR]

Reads every *.jsonl file of the folder, or four public sets without one; `council export --as
judgments` writes such files. A line is a judge's ranking of what it was shown, best first (ties in
one place, or "winner": null), or what a person said of the same item. Other keys are ignored.

    {"item": "q1", "judge": "gpt", "order": ["a", "b"], "winner": "a"}
    {"item": "q1", "judge": "gpt", "order": ["b", "a"], "ranking": [["a"], ["b"]], "family": "gpt"}
    {"item": "q1", "human": "a"}
    {"item": "q1", "human": [["a"], ["b", "c"]]}

Several lines of a judge on an item are its rankings in several orders. A count of one order takes
one of them from each judge, and its agreement is the mean over all such assignments in which every
answer stands in every slot as equally often as it can. "Fixed order" shows all judges the same one,
as the original llm-council does. An answer that is named as the judge is that judge's own.
Agreement is the share of the pairs a person ordered that the count orders alike, a tie half; the
unit of all intervals is the item.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product
from math import prod
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

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
from tests.bench import llmbar

MAX_FILE_BYTES, MAX_LINE_BYTES = 500_000_000, 64_000
MAX_NAME, MAX_ANSWERS, MAX_JUDGES = 200, 26, 100
DRAWS = 25  # of the twenty repeats that weights come from
MAX_ASSIGNMENTS = 256  # of orders to judges; of more, as many are drawn by seed
EXAMPLE = '{"item": "q1", "judge": "gpt", "order": ["a", "b"], "winner": "a"}'

Scores = Mapping[Label, float]


class LineError(Exception):
    """A line that cannot be used: file, line, what is wrong and what to do."""


@dataclass
class Item:
    """The rankings of one item by judge, one for each order, and what people said of it."""

    cast: dict[str, list[Ballot]] = field(default_factory=dict)
    human: list[Ranking] = field(default_factory=list)
    where: dict[tuple[str, tuple[Label, ...]], str] = field(default_factory=dict)

    @property
    def ballots(self) -> list[Ballot]:
        """The rankings in all orders, without judges' own answers."""
        return others_only(one for cast in self.cast.values() for one in cast)

    @cached_property
    def assignments(self) -> list[list[Ballot]]:
        """One ranking of each judge, in every way that balances the slots best, own answers in."""
        casts = [sorted(cast, key=lambda x: x.shown) for _, cast in sorted(self.cast.items())]
        if prod(map(len, casts)) <= MAX_ASSIGNMENTS:
            chosen = [[*one] for one in product(*casts)]
        else:
            chosen = [
                [shuffle(cast, f"{i}", f"orders of judge {j}")[0] for j, cast in enumerate(casts)]
                for i in range(MAX_ASSIGNMENTS)
            ]
        spreads = [_slot_spread(ballots) for ballots in chosen]
        return [one for one, spread in zip(chosen, spreads, strict=True) if spread == min(spreads)]

    @cached_property
    def fixed_orders(self) -> list[list[Ballot]]:
        """Each order that all judges saw, own answers in; none if there is no such order."""
        orders = [{ballot.shown for ballot in cast} for cast in self.cast.values()]
        return [
            [next(x for x in cast if x.shown == order) for cast in self.cast.values()]
            for order in sorted(set.intersection(*orders))
        ]


def others_only(ballots: Iterable[Ballot]) -> list[Ballot]:
    """Return rankings without judges' own answers, where more than one answer is left."""
    cut = (_without(ballot, Label(ballot.judge)) for ballot in ballots)
    return [ballot for ballot in cut if len(ballot.shown) > 1]


def _slot_spread(ballots: Sequence[Ballot]) -> int:
    """Return how unequally often answers stand in slots: the sum of squared counts."""
    seen = Counter((at, label) for ballot in ballots for at, label in enumerate(ballot.shown))
    return sum(count**2 for count in seen.values())


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


def read_public(name: str) -> Judgments:
    """Return the judgments of a public set on which every judge chose in both orders."""
    with TemporaryDirectory() as folder:
        llmbar.write_judgments(name, Path(folder) / "public.jsonl")
        return read(Path(folder))


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


# Returns the scores of an item once for each way of asking that it is averaged over.
Count = Callable[[str, Item], Iterable[Scores]]


def mean_rank(ballots: Sequence[Ballot]) -> Scores:
    """Return minus the mean rank, own answers included: the original llm-council's count."""
    found: dict[Label, list[float]] = {}
    for ballot in ballots:
        for label, rank in ranks(ballot.ranking).items():
            found.setdefault(label, []).append(-rank)
    return {label: fmean(values) for label, values in found.items()}


def pair_shares(ballots: Sequence[Ballot], weights: Mapping[str, float] | None = None) -> Scores:
    """Return the official share of each answer."""
    matrix = pair_matrix(ballots, weights)
    shares = {label: pair_share(label, matrix) for ballot in ballots for label in ballot.shown}
    return {label: share for label, share in shares.items() if share is not None}


def original(_: str, item: Item) -> Iterator[Scores]:
    return map(mean_rank, item.fixed_orders)


def fixed_order(_: str, item: Item) -> Iterator[Scores]:
    return (pair_shares(others_only(ballots)) for ballots in item.fixed_orders)


def official(_: str, item: Item) -> Iterator[Scores]:
    return (pair_shares(others_only(ballots)) for ballots in item.assignments)


def both_orders(_: str, item: Item) -> Iterator[Scores]:
    yield pair_shares(item.ballots)


def alone(judge: str, *, again: bool) -> Count:
    """Return a judge's own count: of one order, or of all together."""

    def count(_: str, item: Item) -> Iterator[Scores]:
        cast = others_only(item.cast.get(judge, ()))
        return map(pair_shares, [cast] if again else [[ballot] for ballot in cast])

    return count


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

    def count(name: str, item: Item) -> Iterator[Scores]:
        others = {j: (v for x, v in each.items() if x != name) for j, each in kept.items()}
        yield pair_shares(item.ballots, _usable(others))

    return count


def by_twenty(judgments: Judgments, draw: int) -> Count | None:
    """Return one order, weighted by twenty repeats of each judge, drawn by number."""
    kept = kept_shares(judgments)
    weights = _usable(
        {
            judge: [each[x] for x in shuffle(each, f"{draw}", judge)[:MIN_REPEATS]]
            for judge, each in kept.items()
        }
    )
    if weights is None:
        return None

    def count(_: str, item: Item) -> Iterator[Scores]:
        # One assignment for each draw, in turn: all of them for each would take minutes.
        ballots = item.assignments[draw % len(item.assignments)]
        yield pair_shares(others_only(ballots), weights)

    return count


def by_family(judgments: Judgments) -> Count:
    """Return one order, one voice for each family."""

    def count(_: str, item: Item) -> Iterator[Scores]:
        for ballots in map(others_only, item.assignments):
            seats = Counter(judgments.families[ballot.judge] for ballot in ballots)
            weights = {b.judge: 1 / seats[judgments.families[b.judge]] for b in ballots}
            yield pair_shares(ballots, weights)

    return count


def by_peer_rank(judgments: Judgments) -> Count | None:
    """Return one order, weighted by PeerRank on both; None unless two judges wrote answers."""
    rounds = [*_rounds(judgments)]
    if len({member for one in rounds for member in one.members}) < 2:
        return None
    weights = peer_weights(rounds).weights
    return lambda _, item: (pair_shares(others_only(x), weights) for x in item.assignments)


def _rounds(judgments: Judgments) -> Iterator[RoundShares]:
    for name, item in judgments.items.items():
        cast: dict[str, list[Mapping[Label, float]]] = {}
        for ballot in item.ballots:
            cast.setdefault(ballot.judge, []).append(borda_shares(ballot.ranking))
        shares = {j: {x: fmean(one[x] for one in of) for x in of[0]} for j, of in cast.items()}
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
    """Return a count's mean agreement on each item, over people and ways of asking."""
    found: dict[str, float] = {}
    for name, item in judgments.items.items():
        if item.human:
            each = [
                one
                for scores in count(name, item)
                for human in item.human
                if (one := agreement(scores, human)) is not None
            ]
            if each:
                found[name] = fmean(each)
    return found


@dataclass(frozen=True)
class Row:
    """A count's agreement by item; empty with too little data, for the reason in `missing`."""

    name: str
    by_item: Mapping[str, float]
    missing: str = ""

    @property
    def mean(self) -> float:
        """The mean over items; there must be one."""
        return fmean(self.by_item.values())

    def compared(self, other: "Row") -> str:
        """Return the mean difference on common items with its paired 95 % interval."""
        common = [name for name in self.by_item if name in other.by_item]
        values = np.array([self.by_item[name] - other.by_item[name] for name in common])
        if len(values) < 2 or self is other:
            return "–"
        low, high = mean_interval(values) if np.ptp(values) else (values[0], values[0])
        return f"{values.mean():+.3f} [{low:+.3f}, {high:+.3f}]"


ORIGINAL = "original llm-council: fixed order, mean rank, own in"
ORIGINAL_ROW, OFFICIAL_ROW = 0, 2


def measure(judgments: Judgments) -> list[Row]:
    """Return the agreement of every count."""
    unlabelled = "no judge ranked two answers that a person ordered"
    unfixed = "no order that all judges of an item saw"
    few = f"no judge has {MIN_REPEATS} items in two orders"
    drawn = [count for i in range(DRAWS) if (count := by_twenty(judgments, i))]
    twenty = [by_item(judgments, count) for count in drawn]
    peers, steady = by_peer_rank(judgments), by_consistency(judgments)
    return [
        Row(ORIGINAL, by_item(judgments, original), unfixed),
        Row("fixed order", by_item(judgments, fixed_order), unfixed),
        Row("official: one order, balanced", by_item(judgments, official), unlabelled),
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


def measure_judges(judgments: Judgments) -> list[tuple[Row, Row]]:
    """Return each judge's own agreement in one order and in all, the best in all first."""
    rows = [
        (
            Row(judge, by_item(judgments, alone(judge, again=False))),
            Row(judge, by_item(judgments, alone(judge, again=True))),
        )
        for judge in judgments.families
    ]
    known = [pair for pair in rows if pair[1].by_item]
    return sorted(known, key=lambda pair: -fmean(pair[1].by_item.values()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; return 2 if a line is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?")
    folder = parser.parse_args(arguments).folder
    try:
        if folder:
            print_all(read(folder))
        elif llmbar.DATA.exists():
            for name, (_, prompts) in llmbar.SETS.items():
                print(f"\n{name}, {prompts} prompts")
                print_all(read_public(name))
        else:
            print(f"Skipped: there is no {llmbar.DATA}. Name a folder with judgments.")
    except (LineError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def print_all(judgments: Judgments) -> None:
    """Print what there is, then every count, then every judge."""
    items = judgments.items.values()
    twice = sum(all(len(cast) > 1 for cast in item.cast.values()) for item in items)
    labelled = sum(bool(item.human) for item in items)
    print(
        f"{len(items):,} items, {len(judgments.families)} judges; {twice:,} items in both orders "
        f"from every judge; {labelled:,} with people's labels\n"
    )
    if not labelled:
        print('No line says what a person thinks, so nothing can be compared. Add "human" lines.')
        return
    rows = measure(judgments)
    print_counts(rows)
    print_judges(measure_judges(judgments), *rows[OFFICIAL_ROW : OFFICIAL_ROW + 3])


def print_counts(rows: Sequence[Row]) -> None:
    print(f"{'count':54} {'items':>6} {'agrees':>7}  {'− original [95 %]':25}  − official [95 %]")
    for row in rows:
        if not row.by_item:
            print(f"{row.name:54} {'':6} {'–':>7}  ({row.missing})")
            continue
        against = f"{row.compared(rows[ORIGINAL_ROW]):25}  {row.compared(rows[OFFICIAL_ROW])}"
        print(f"{row.name:54} {len(row.by_item):6,} {row.mean:7.3f}  {against}")


def print_judges(judges: Sequence[tuple[Row, Row]], one: Row, both: Row, weighted: Row) -> None:
    """Print what each judge achieves alone, and what the panel of all adds to it."""
    print(
        f"\n{'a judge alone, the best first':54} {'items':>6} {'one':>7} {'both':>6}  "
        f"{'official − one [95 %]':25}  {'both orders − both [95 %]':25}  weighted − both [95 %]"
    )
    for in_one, in_both in judges:
        compared = (one.compared(in_one), both.compared(in_both), weighted.compared(in_both))
        means = f"{in_one.mean:7.3f} {in_both.mean:6.3f}"
        against = "  ".join(f"{each:25}" for each in compared)
        print(f"{in_one.name:54} {len(in_one.by_item):6,} {means}  {against}".rstrip())


if __name__ == "__main__":
    sys.exit(main())
