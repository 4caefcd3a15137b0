"""`council tally`, the worked example of the method, and files that cannot be counted."""

import json

import pytest

from tests.bot.homes import Home

# Method §3.6: A: B>C>D; B: A>(C=D); C: A, the rest unranked; D: B>A>C.
E1 = {
    "candidates": ["A", "B", "C", "D"],
    "ballots": [
        {"judge": "A", "shown": ["B", "C", "D"], "ranking": [["B"], ["C"], ["D"]]},
        {"judge": "B", "shown": ["A", "C", "D"], "ranking": [["A"], ["C", "D"]]},
        {"judge": "C", "shown": ["A", "B", "D"], "ranking": [["A"]]},
        {"judge": "D", "shown": ["A", "B", "C"], "ranking": [["B"], ["A"], ["C"]]},
    ],
}


def file_of(home: Home, content: object) -> str:
    text = content if isinstance(content, str) else json.dumps(content)
    path = home.folder / "ballots.json"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_the_worked_example_is_counted_as_by_hand(home: Home) -> None:
    result = home.invoke("tally", file_of(home, E1), "--json")

    # By hand: shares A (1+1+.5)/3, B (1+.25+1)/3, C (.5+.25+0)/3, D (0+.25+.25)/3.
    lines = {line["candidate"]: line for line in result.json["standings"]}
    assert result.code == 0
    assert list(lines) == ["A", "B", "C", "D"]
    shares = [lines[name]["share"] for name in "ABCD"]
    assert shares == pytest.approx([0.8333, 0.75, 0.25, 0.1667], abs=1e-4)
    assert [lines[name]["points"] for name in "ABCD"] == [5, 4.5, 1.5, 1]
    ranks = [lines[name]["mean_rank"] for name in "ABCD"]
    assert ranks == pytest.approx([4 / 3, 1.5, 2.5, 8 / 3])
    assert {line["max_points"] for line in lines.values()} == {6}
    matrix, verdict = result.json["pair_matrix"], result.json["verdict"]
    assert (matrix["A"]["B"], matrix["D"]["B"], matrix["C"]["D"]) == (0.5, 0.25, 0.75)
    assert verdict["kendall_w"] is None  # the judges ranked different sets


def test_several_ballots_of_a_judge_are_averaged_and_weigh_as_one(home: Home) -> None:
    shown = ["A", "B", "C"]
    twice = [
        {"judge": "x", "shown": shown, "ranking": [["A"], ["B"], ["C"]]},
        {"judge": "x", "shown": shown[::-1], "ranking": [["B"], ["A"], ["C"]]},
        {"judge": "y", "shown": shown, "ranking": [["A"], ["C"], ["B"]]},
    ]

    document = home.invoke(
        "tally", file_of(home, {"candidates": shown, "ballots": twice}), "--json"
    ).json

    # By hand, A before B: x in one of its two orders, y in its only one: (.5 + 1) / 2.
    assert document["pair_matrix"]["A"]["B"] == 0.75
    assert document["verdict"]["first_on"] == [1, 2]
    assert {line["max_points"] for line in document["standings"]} == {4}


def test_each_candidate_is_a_line(home: Home) -> None:
    result = home.invoke("tally", file_of(home, E1))

    assert result.code == 0
    assert [line.split()[1] for line in result.out.splitlines()[:4]] == ["A", "B", "C", "D"]
    assert "(p = " in result.out
    assert [line.split("mean rank ")[1] for line in result.out.splitlines()[:4]] == [
        "1.33",
        "1.50",
        "2.50",
        "2.67",
    ]


def a_ballot(*ranking: list[str], shown: str = "xy") -> dict[str, object]:
    ballot = {"judge": "j", "shown": [*shown], "ranking": ranking}
    return {"candidates": ["x", "y"], "ballots": [ballot]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("{\n\n", "not valid JSON (line 3)", id="not-json"),
        pytest.param("", "not valid JSON", id="empty"),
        pytest.param({"candidates": ["x", "x"], "ballots": []}, "listed twice", id="duplicate"),
        pytest.param(a_ballot(["x"], shown="xz"), "'z', which is not a candidate", id="unknown"),
        pytest.param(a_ballot(["x"], ["x"]), "names a candidate twice", id="ranked-twice"),
        pytest.param(a_ballot(["z"]), "ranks 'z', which it was not shown", id="not-shown"),
        pytest.param(a_ballot([]), "is empty", id="nothing"),
        pytest.param({"candidates": ["x", "y"]}, "ballots", id="no-ballots"),
        pytest.param({**E1, "winner": "A"}, "winner", id="unknown-key"),
    ],
)
def test_a_broken_file_is_one_line_and_bad_usage(home: Home, content: object, message: str) -> None:
    result = home.invoke("tally", file_of(home, content), "--json")

    assert (result.code, result.out) == (2, "")
    assert len(result.lines) == 1
    assert message in result.lines[0]
    assert ": :" not in result.err


def test_outside_judges_see_everything_and_follow_the_authors(home: Home) -> None:
    result = home.invoke("slates", "--candidates", "3", "--outside", "2", "--seed", "s", "--json")

    shown = {slate["judge"]: slate["shown"] for slate in result.json["slates"]}
    labels = result.json["labels"]
    assert list(shown) == [0, 1, 2, 3, 4]
    assert all(labels[judge] not in shown[judge] for judge in range(3))
    assert all(sorted(shown[judge]) == sorted(labels) for judge in (3, 4))
    text = home.invoke("slates", "--candidates", "3", "--outside", "2", "--seed", "s").out
    assert text.startswith(f"labels: {' '.join(labels)}\njudge 0 sees ")
