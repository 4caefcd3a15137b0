"""The measurement of counts on anyone's judgments: what it reads, refuses and finds."""

import json
import random
from pathlib import Path

import pytest

from tests.bench import llmbar
from tests.bench.aggregation import (
    MAX_ASSIGNMENTS,
    LineError,
    main,
    mean_rank,
    measure,
    official,
    read,
)

Line = dict[str, object]


def written(folder: Path, *lines: Line, name: str = "a.jsonl") -> Path:
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def judged(judge: str, order: str, ranking: str, item: str = "q") -> Line:
    places = [place.split("=") for place in ranking.split()]
    return {"item": item, "judge": judge, "order": [*order], "ranking": places}


def test_the_original_counts_own_answers_and_the_official_does_not(tmp_path: Path) -> None:
    lines = [judged("a", "abc", "a b c"), judged("b", "bca", "b a c"), judged("c", "cab", "c a b")]
    (item,) = read(written(tmp_path, *lines)).items.values()

    # By hand: mean ranks 5/3, 2 and 7/3 with own answers, each judge putting its own first.
    assert mean_rank(item.assignments[0]) == pytest.approx({"a": -5 / 3, "b": -2, "c": -7 / 3})
    # Without: b and c put a above the other, a puts b above c.
    assert [*official("q", item)] == [{"a": 1.0, "b": 0.5, "c": 0.0}]


def test_people_agree_by_the_pairs_they_ordered(tmp_path: Path) -> None:
    lines: list[Line] = [judged("x", "abc", "a b=c"), {"item": "q", "human": "b"}]

    rows = measure(read(written(tmp_path, *lines)))

    # b above a: wrong; b above c: tied.
    assert [row.by_item for row in rows[:2]] == [{"q": 0.25}, {"q": 0.25}]
    assert [row.by_item for row in rows[4:6]] == [{}, {}]


def test_labels_and_judgments_may_be_in_several_files(tmp_path: Path) -> None:
    human: Line = {"item": "q", "human": [["a"], ["b"]]}
    written(tmp_path, human, human, name="0.jsonl")
    won: Line = {"item": "q", "judge": "x", "order": ["b", "a"], "winner": "a"}
    tied = won | {"judge": "y", "winner": None}

    (first, *_) = measure(read(written(tmp_path, won, tied)))

    assert first.by_item == {"q": 1.0}


GOOD: Line = {"item": "q", "judge": "x", "order": ["a", "b"], "winner": "a"}
WRONG: list[tuple[Line, str]] = [
    (GOOD | {"item": ""}, "line 2: “item” must be a text"),
    (GOOD | {"judge": None}, "“judge” must be a text"),
    (GOOD | {"judge": "y" * 201}, "“judge” must be a text of 1 to 200"),
    (GOOD | {"judge": "y", "order": ["a"]}, "“order” must list the 2 to 26"),
    (GOOD | {"judge": "y", "order": ["a", "a"]}, "“order” names an answer twice"),
    (GOOD | {"judge": "y", "order": ["a", 1]}, "“order” must hold names"),
    (GOOD | {"judge": "y", "winner": "c"}, "the winner 'c' is not in “order”"),
    (GOOD | {"judge": "y", "ranking": [["a"]]}, "“ranking” must hold the answers in “order”"),
    ({"item": "q", "judge": "y", "order": ["a", "b"]}, "neither “winner”, “ranking” nor “human”"),
    (GOOD, "line 1 has 'x' on the same item in the same order already"),
    (GOOD | {"order": ["a", "c"]}, "saw other answers before"),
    ({"item": "q", "human": "c"}, "no judge saw 'c'"),
    ({"item": "p", "human": "a"}, "no judge ranked item 'p'"),
    ({"item": "q", "human": 5}, "“human” must hold names"),
]


@pytest.mark.parametrize(("line", "fault"), WRONG, ids=[fault[:30] for _, fault in WRONG])
def test_a_wrong_line_is_named_with_what_is_wrong(tmp_path: Path, line: Line, fault: str) -> None:
    with pytest.raises(LineError) as caught:
        read(written(tmp_path, GOOD, line))

    assert str(caught.value).startswith("a.jsonl, line 2: ")
    assert fault in str(caught.value)


@pytest.mark.parametrize("text", ["no json", "[1]", "[" * 5_000, f'{{"item": "{"x" * 70_000}"}}'])
def test_what_is_no_object_or_too_long_is_refused(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.jsonl").write_text(text, encoding="utf-8")

    assert main([str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("a.jsonl, line 1: ")


def test_an_empty_folder_says_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(LineError, match=r"no \*\.jsonl files"):
        read(tmp_path)


def test_without_labels_it_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(written(tmp_path, GOOD))]) == 0
    assert "nothing can be compared" in capsys.readouterr().out


@pytest.mark.skipif(
    not (llmbar.DATA / "llmbar_verdicts.jsonl").exists(),
    reason="no ../shared/data beside this repository",
)
def test_on_llmbar_it_finds_what_the_bench_of_weights_finds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 0

    out, *others = capsys.readouterr().out.split("\n\nMT-Bench")
    assert len(others) == 1
    assert "415 items, 6 judges; 415 items in both orders from every judge" in out
    agrees = {line[:54].strip(): line[54:].split() for line in out.splitlines()}
    assert agrees["both orders"][:2] == ["415", "0.602"]
    # Weights come from the other items, so they differ a little from those of the bench.
    assert float(agrees["both orders, weighted by consistency"][1]) == pytest.approx(
        0.810, abs=0.005
    )
    assert agrees["GPT-4"][:3] == ["415", "0.843", "0.843"]
    assert "(no judge wrote an answer)" in out


def test_without_a_folder_or_data_it_says_that_it_skips(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(llmbar, "DATA", tmp_path / "llmbar")

    assert main([]) == 0
    assert capsys.readouterr().out.startswith("Skipped: there is no ")


def test_verdicts_are_read_from_a_clone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    judges = tmp_path / "clone/Dataset/Processed/FairEval/evaluators"
    for judge, winners in {"one": ("1", "1"), "two": ("2", "nothing")}.items():
        (judges / judge / "Vanilla_NoRules").mkdir(parents=True)
        told = {
            f"swap = {swap}": {"winner": won}
            for swap, won in zip((False, True), winners, strict=True)
        }
        entries = [{"label": 1, "results": [told]}, {"label": 2, "results": []}]
        (judges / judge / "Vanilla_NoRules/result.json").write_text(json.dumps(entries))
    monkeypatch.setattr(llmbar, "DATA", tmp_path / "data")

    llmbar.write_verdicts(tmp_path / "clone")

    verdicts = llmbar.read("FairEval")
    assert verdicts.judges == ("one", "two")
    assert verdicts.gold.tolist() == [1.0]  # nobody judged the second item
    assert verdicts.chosen.tolist() == [[[1.0, 1.0], [0.0, 0.0]]]


# --- Orders


def in_two_orders(judge: str, first: str, second: str, item: str = "q") -> list[Line]:
    """Return what a judge put first when it saw a before b, and when it saw b before a."""
    return [
        {"item": item, "judge": judge, "order": ["a", "b"], "winner": first},
        {"item": item, "judge": judge, "order": ["b", "a"], "winner": second},
    ]


def found_in(folder: Path, lines: list[Line]) -> dict[str, float]:
    return {row.name: row.mean for row in measure(read(written(folder, *lines))) if row.by_item}


def test_no_count_depends_on_the_order_of_lines(tmp_path: Path) -> None:
    chance = random.Random(3)
    lines: list[Line] = []
    for item in map(str, range(30)):
        for judge in "vwxyz":
            lines += in_two_orders(judge, chance.choice("ab"), chance.choice("ab"), item)
        lines.append({"item": item, "human": chance.choice("ab")})

    one = found_in(tmp_path, lines)
    chance.shuffle(lines)

    assert found_in(tmp_path, lines) == pytest.approx(one)


def test_one_order_is_averaged_over_the_balanced_assignments_and_fixed_over_common_orders(
    tmp_path: Path,
) -> None:
    # Both judges like the first slot; a person chose a.
    human: Line = {"item": "q", "human": "a"}
    lines = [
        *in_two_orders("x", "a", "b"),
        *in_two_orders("y", "a", "b"),
        human,
    ]

    found = found_in(tmp_path, lines)

    # Balanced: one judge sees a first, the other b, so they tie. Fixed: both right, or both wrong.
    assert found["official: one order, balanced"] == 0.5
    assert found["fixed order"] == 0.5
    # One judge who sees the truth: balanced, it wins or ties; fixed, it ties or wins.
    lines = [
        *in_two_orders("x", "a", "a"),
        *in_two_orders("y", "a", "b"),
        human,
    ]
    assert found_in(tmp_path, lines)["official: one order, balanced"] == 0.75


def test_a_fixed_order_is_one_that_all_judges_saw(tmp_path: Path) -> None:
    alike, other = judged("x", "ab", "a b"), judged("y", "ba", "a b")

    rows = measure(read(written(tmp_path, alike, other, {"item": "q", "human": "a"})))

    assert [bool(row.by_item) for row in rows[:3]] == [False, False, True]


def test_many_orders_are_sampled(tmp_path: Path) -> None:
    orders = ["abc", "bca", "cab"]
    lines = [judged(judge, order, "a b c") for judge in "uvwxyz" for order in orders]

    (item,) = read(written(tmp_path, *lines)).items.values()

    assert 0 < len(item.assignments) <= MAX_ASSIGNMENTS


def test_judges_are_compared_with_their_panel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines: list[Line] = []
    for item in ("p", "q"):
        lines += in_two_orders("good", "a", "a", item) + in_two_orders("bad", "b", "b", item)
        lines += [*in_two_orders("slot", "a", "b", item), {"item": item, "human": "a"}]
    lines += [{"item": "r", "judge": "good", "order": ["a", "b"], "winner": "a"}]

    assert main([str(written(tmp_path, *lines))]) == 0

    told = capsys.readouterr().out.partition("a judge alone")[2].splitlines()[1:]
    assert [line.split()[:4] for line in told] == [
        ["good", "2", "1.000", "1.000"],
        ["slot", "2", "0.500", "0.500"],
        ["bad", "2", "0.000", "0.000"],
    ]
    assert told[0].split()[4] == "-0.500"
