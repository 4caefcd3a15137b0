"""The measurement of counts on anyone's judgments: what it reads, refuses and finds."""

import json
from pathlib import Path

import pytest

from tests.bench.aggregation import LineError, main, mean_rank, measure, official, read
from tests.bench.llmbar import DATA, PROMPT, SUBSET

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
    assert mean_rank("q", item) == pytest.approx({"a": -5 / 3, "b": -2, "c": -7 / 3})
    # Without: b and c put a above the other, a puts b above c.
    assert official("q", item) == {"a": 1.0, "b": 0.5, "c": 0.0}


def test_people_agree_by_the_pairs_they_ordered(tmp_path: Path) -> None:
    lines: list[Line] = [judged("x", "abc", "a b=c"), {"item": "q", "human": "b"}]

    rows = measure(read(written(tmp_path, *lines)))

    # b above a: wrong; b above c: tied.
    assert [row.by_item for row in rows[:2]] == [{"q": 0.25}, {"q": 0.25}]
    assert [row.by_item for row in rows[3:5]] == [{}, {}]


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
    not (DATA / "llmbar_verdicts.jsonl").exists(), reason="no ../shared/data beside this repository"
)
def test_on_llmbar_it_finds_what_the_bench_of_weights_finds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines: list[Line] = []
    gold: dict[str, str] = {}
    orders = (["1", "2"], ["2", "1"])  # 0 is no choice, which the bench reads as the second
    with (DATA / "llmbar_verdicts.jsonl").open(encoding="utf-8") as file:
        for subset, number, judge, prompt, label, *told in map(json.loads, file):
            if prompt == PROMPT and subset.startswith(SUBSET):
                item = f"{subset} {number}"
                gold[item] = str(label)
                lines += [
                    {"item": item, "judge": judge, "order": order, "winner": str(winner or 2)}
                    for order, winner in zip(orders, told, strict=True)
                ]
    whole = {item for item in gold if sum(line["item"] == item for line in lines) == 12}
    lines = [line for line in lines if line["item"] in whole]
    lines += [{"item": item, "human": gold[item]} for item in whole]

    rows = {row.name: row for row in measure(read(written(tmp_path, *lines)))}
    code = main([str(tmp_path)])

    means = {name: sum(row.by_item.values()) / 415 for name, row in rows.items()}
    assert len(rows["official"].by_item) == 415
    assert means["both orders"] == pytest.approx(0.602, abs=5e-4)
    # Weights come from the other items, so they differ a little from those of the bench.
    assert means["both orders, weighted by consistency"] == pytest.approx(0.810, abs=0.005)
    assert not rows["official, weighted by PeerRank"].by_item
    out = capsys.readouterr().out
    assert code == 0
    assert "415 items, 6 judges; 415 items in both orders from every judge" in out
    assert "(no judge wrote an answer)" in out
