"""`council rank`: texts from a file are ranked once each, whatever interrupts the run."""

import asyncio
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from bot.cli.rank import MAX_LINE_BYTES, interval_text
from council.ballots import Ballot
from council.tally.borda import pair_matrix
from council.tally.bradley_terry import OpenInterval, fit_pools
from tests.bot.homes import LETTERS, TIMEOUT_SECONDS, Home, panel_toml, seat_toml, served_config
from tests.soak.paid import PaidServer
from tests.wire.models import ModelServer

ANSWERS = {"a": "Use a queue.", "b": "Use a table.", "c": "Use a log.", "d": "Use nothing."}
JUDGES = ("up", "down", "left")
MARGIN_SECONDS = 0.05  # what a reply takes from the wire to the file
PRICED = {"input_usd_per_million": 10, "output_usd_per_million": 10, "max_tokens": 500}


def a_line(number: int, **fields: object) -> str:
    line = {"id": f"q{number}", "question": f"Which is best? [round {number}]", "answers": ANSWERS}
    return json.dumps(line | fields)


def a_file(home: Home, lines: Iterable[str], name: str = "pools.jsonl") -> str:
    path = home.folder / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def results(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_each_line_gets_one_line_with_standings_verdict_and_ballots(home: Home) -> None:
    ran = home.invoke("rank", a_file(home, map(a_line, range(3))), "--seed", "s")

    lines = results(ran.out)
    assert ran.code == 0
    assert sorted(line["id"] for line in lines) == ["q0", "q1", "q2"]
    for line in lines:
        assert {standing["name"] for standing in line["standings"]} == {*ANSWERS}
        assert line["standings"][0].keys() == {
            "name",
            "place",
            "share",
            "points",
            "max_points",
            "first_votes",
            "mean_rank",
        }
        assert line["verdict"]["strength"]
        assert [(ballot["judge"], ballot["pass"]) for ballot in line["ballots"]] == [
            (judge, number) for judge in LETTERS for number in (1, 2)
        ]
        assert {name for place in line["ballots"][0]["ranking"] for name in place} == {*ANSWERS}
        assert (line["absences"], line["cost_usd"]) == ([], 0)


def test_the_question_and_the_texts_are_added_on_request(home: Home) -> None:
    file = a_file(home, [a_line(1)])

    bare, whole = (results(home.invoke("rank", file, *more).out)[0] for more in ((), ("--texts",)))

    assert not {"question", "texts"} & bare.keys()
    sent = json.loads(a_line(1))
    assert (whole["question"], whole["texts"]) == (sent["question"], sent["answers"])


def test_the_estimate_and_the_cost_are_on_stderr(home: Home) -> None:
    ran = home.invoke("rank", a_file(home, [a_line(1)]))

    assert ran.lines == ["1 line to rank. It costs nothing.", "Ranked 1. Cost: $0.00."]


def test_the_same_seed_ranks_the_same(home: Home) -> None:
    file = a_file(home, [a_line(1)])

    one, other = (home.invoke("rank", file, "--seed", "s").out for _ in range(2))

    assert one == other


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([json.loads(a_line(0)), json.loads(a_line(1))]),
        json.dumps([json.loads(a_line(0)), json.loads(a_line(1))], indent=2),
        f"\ufeff{a_line(0)}\r\n\r\n{a_line(1)}",
    ],
)
def test_a_list_or_lines_are_read_from_stdin(home: Home, text: str) -> None:
    ran = home.invoke("rank", "-", stdin=text)

    assert (ran.code, len(results(ran.out))) == (0, 2)


def test_one_object_over_several_lines_is_one_document(home: Home) -> None:
    text = json.dumps(json.loads(a_line(1)), indent=2)

    ran = home.invoke("rank", "-", stdin=text)

    assert [line["id"] for line in results(ran.out)] == ["q1"]


def test_without_an_id_a_line_has_its_number(home: Home) -> None:
    ran = home.invoke("rank", "-", stdin=f"\n{a_line(1, id=None)}\n\n{a_line(2, id=7)}")

    assert sorted(line["id"] for line in results(ran.out)) == ["2", "7"]


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        ("{broken", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ('{"question": "Why?", "answers": {"a": "x", "a": "y"}}', "a name occurs twice"),
        (a_line(2, question=5), "question"),
        (a_line(2, question=" "), "The question is empty"),
        (a_line(2, answers={"a": "Alone."}), "1 texts can't be ranked"),
        (a_line(2, answers={"a": "Alpha.", "b": 2}), "answers.b"),
        (a_line(1), "the id 'q1' is also that of line 1"),
        (a_line(2, question="x" * MAX_LINE_BYTES), "the limit is 1,000,000"),
    ],
)
def test_a_bad_line_is_named_and_the_rest_is_ranked(home: Home, bad: str, fault: str) -> None:
    ran = home.invoke("rank", a_file(home, [a_line(1), "", bad, a_line(4)]))

    assert ran.code == 1
    assert sorted(line["id"] for line in results(ran.out)) == ["q1", "q4"]
    [named] = [line for line in ran.lines if line.startswith("line 3: ")]
    assert fault in named


def test_an_empty_file_and_a_missing_one_are_refused(home: Home) -> None:
    empty, missing = home.invoke("rank", a_file(home, [])), home.invoke("rank", "nowhere.jsonl")

    assert (empty.code, "nothing to rank" in empty.err) == (1, True)
    assert (missing.code, "Can't read nowhere.jsonl" in missing.err) == (2, True)


def test_judges_are_named_apart_from_panels_and_skip_their_own_texts(home: Home) -> None:
    answers = {"scripted/random-1": "Use a queue.", "b": "Use a table.", "c": "Use a log."}
    file = a_file(home, [a_line(1, answers=answers)])

    ran = home.invoke("rank", file, "--judges", "scripted/random-1, north")

    [line] = results(ran.out)
    assert [(b["judge"], sorted(b["shown"])) for b in line["ballots"]] == [
        ("scripted/random-1", ["b", "c"]),
        ("north", sorted(answers)),
        ("north", sorted(answers)),
    ]


def test_an_unknown_judge_or_panel_is_bad_usage(home: Home) -> None:
    file = a_file(home, [a_line(1)])

    judge = home.invoke("rank", file, "--judges", "nobody")
    panel = home.invoke("rank", file, "--panel", "nobody")

    assert (judge.code, "There is no model 'nobody'" in judge.err) == (2, True)
    assert (panel.code, "There is no panel 'nobody'" in panel.err) == (2, True)


# --- Output files


def test_a_file_is_continued_and_nothing_in_it_is_ranked_again(home: Home) -> None:
    out = home.folder / "out.jsonl"
    file = a_file(home, map(a_line, range(4)))
    home.invoke("rank", a_file(home, map(a_line, range(2)), "first.jsonl"), "--output", str(out))
    first = out.read_text(encoding="utf-8")

    ran = home.invoke("rank", file, "--output", str(out), "--json")

    assert ran.json == {"ranked": 2, "ranked_before": 2, "failed": 0, "left": 0, "cost_usd": 0.0}
    assert out.read_text(encoding="utf-8").startswith(first)
    ids = [line["id"] for line in results(out.read_text(encoding="utf-8"))]
    assert sorted(ids) == ["q0", "q1", "q2", "q3"]


def test_rankings_by_other_judges_are_kept_and_said(home: Home) -> None:
    out = home.folder / "out.jsonl"
    file = a_file(home, map(a_line, range(2)))
    home.invoke("rank", file, "--judges", "scripted/random-1", "--output", str(out))

    same = home.invoke("rank", file, "--judges", "scripted/random-1", "--output", str(out))
    other = home.invoke("rank", file, "--judges", "scripted/random-2", "--output", str(out))

    assert "other judges" not in same.err
    assert "has rankings by other judges (scripted/random-1); they are kept" in other.err


def test_a_torn_last_line_is_ranked_again(home: Home) -> None:
    out = home.folder / "out.jsonl"
    file = a_file(home, map(a_line, range(3)))
    home.invoke("rank", file, "--output", str(out))
    out.write_bytes(out.read_bytes()[:-40])

    home.invoke("rank", file, "--output", str(out))

    ids = [line["id"] for line in results(out.read_text(encoding="utf-8"))]
    assert sorted(ids) == ["q0", "q1", "q2"]


def test_a_file_of_something_else_is_not_touched(home: Home) -> None:
    out = home.folder / "notes.txt"
    out.write_text("My notes.\nAnd more", encoding="utf-8")

    ran = home.invoke("rank", a_file(home, [a_line(1)]), "--output", str(out))

    assert (ran.code, "Name another file" in ran.err) == (1, True)
    assert out.read_text(encoding="utf-8") == "My notes.\nAnd more"


def test_an_output_that_cannot_be_written_asks_nobody(home: Home) -> None:
    ran = home.invoke("rank", a_file(home, [a_line(1)]), "--output", str(home.folder))

    assert (ran.code, "it is a folder. Name a file." in ran.err) == (1, True)


# --- One strength for each name


def fit_of(text: str) -> list[dict[str, Any]]:
    """Return the strengths that the rankings of these lines give."""
    pools = []
    for line in results(text):
        ballots = [
            Ballot(
                ballot["judge"],
                tuple(ballot["shown"]),
                tuple(map(tuple, ballot["ranking"])),
                pass_number=ballot["pass"],
            )
            for ballot in line["ballots"]
        ]
        pools.append(pair_matrix(ballots))
    return [asdict(line) | {"ci": list(line.ci)} for line in fit_pools(pools)]


def test_a_last_line_has_one_strength_for_each_name_over_all_lines(home: Home) -> None:
    ran = home.invoke("rank", a_file(home, map(a_line, range(5))), "--seed", "s", "--fit")

    *lines, last = ran.out.splitlines()
    fit = json.loads(last)["fit"]
    assert len(lines) == 5
    assert fit == fit_of("\n".join(lines))
    assert sorted(line["name"] for line in fit) == [*ANSWERS]
    assert fit[0].keys() == {"name", "strength", "ci", "pools", "expected_share", "group"}
    assert [line["pools"] for line in fit] == [5] * 4
    assert sum(line["strength"] for line in fit) == pytest.approx(0)


def test_the_fit_is_over_all_lines_of_the_output_also_earlier_ones(home: Home) -> None:
    out = home.folder / "out.jsonl"
    arguments = ("--output", str(out), "--fit", "--json")
    first = home.invoke("rank", a_file(home, map(a_line, range(3)), "one.jsonl"), *arguments)

    ran = home.invoke("rank", a_file(home, map(a_line, range(5))), *arguments)
    again = home.invoke("rank", a_file(home, map(a_line, range(5))), *arguments)

    assert {line["pools"] for line in first.json["fit"]} == {3}
    # The order of the lines decides the last digits.
    fitted = fit_of(out.read_text(encoding="utf-8"))
    assert again.json["fit"] == fitted
    assert [line["name"] for line in ran.json["fit"]] == [line["name"] for line in fitted]
    assert {line["pools"] for line in fitted} == {5}
    assert len(results(out.read_text(encoding="utf-8"))) == 5


def test_people_read_a_table_that_says_who_cannot_be_compared(home: Home) -> None:
    other = {"x": "Use a queue.", "y": "Use a table."}
    lines = [*map(a_line, range(3)), *(a_line(n, answers=other) for n in range(3, 6))]

    ran = home.invoke("rank", a_file(home, lines), "--output", "out.jsonl", "--fit")
    alike = home.invoke("rank", a_file(home, lines[:3]), "--output", "one.jsonl", "--fit")

    head, *rows = ran.out.splitlines()
    assert head.split("  ")[0] == "name"
    assert sorted((row.split()[0], row.split()[-1]) for row in rows[:6]) == [
        *((name, "1") for name in ANSWERS),
        *((name, "2") for name in other),
    ]
    assert "never met" in " ".join(rows[6:])
    assert "group" not in alike.out


def test_nothing_ranked_has_no_strengths(home: Home) -> None:
    ran = home.invoke("rank", a_file(home, []), "--output", "out.jsonl", "--fit")

    assert (ran.code, "No strengths" in ran.out) == (1, True)


def test_lines_without_rankings_cannot_be_fitted(home: Home) -> None:
    out = home.folder / "out.jsonl"
    out.write_text('{"id": "q0"}\n', encoding="utf-8")

    ran = home.invoke("rank", a_file(home, [a_line(1)]), "--output", str(out), "--fit")

    assert (ran.code, "holds a line without rankings (q0)" in ran.err) == (1, True)


@pytest.mark.parametrize(
    ("ci", "text"),
    [
        ((-0.5, 1.25), "-0.50 to +1.25"),
        ((None, 1.25), "up to +1.25"),
        ((-0.5, None), "from -0.50"),
        ((None, None), "open"),
    ],
)
def test_an_open_end_is_said(ci: OpenInterval, text: str) -> None:
    assert interval_text(ci) == text


# --- Money


def priced_config(api_base: str, price: Mapping[str, int] = PRICED) -> str:
    keys = [f"openai/{name}" for name in JUDGES]
    return panel_toml(keys) + "".join(seat_toml(key, api_base=api_base, **price) for key in keys)


async def test_a_cap_stops_the_run_before_it_is_exceeded(home: Home) -> None:
    out = home.folder / "out.jsonl"
    file = a_file(home, map(a_line, range(30)))
    async with ModelServer() as server:
        home.with_config(priced_config(server.api_base))
        arguments = ("rank", file, "--output", str(out), "--json")

        capped = await home.invoke_in_thread(*arguments, "--max-usd", "0.2")
        rest = await home.invoke_in_thread(*arguments)

    first, then = capped.json, rest.json
    assert (capped.code, rest.code) == (1, 0)
    assert 0 < first["cost_usd"] <= 0.2
    assert 0 < first["ranked"] < 30
    assert first["ranked"] + first["left"] == 30
    assert "Stopped before the cap" in capped.err
    assert (then["ranked_before"], then["ranked"]) == (first["ranked"], first["left"])


async def test_an_unknown_cost_is_not_nothing(home: Home) -> None:
    file = a_file(home, map(a_line, range(2)))
    async with ModelServer() as server:
        home.with_config(priced_config(server.api_base, {}))
        ran = await home.invoke_in_thread("rank", file, "--output", "out.jsonl", "--json")

    assert (ran.json["ranked"], ran.json["cost_usd"]) == (2, None)
    assert ran.lines[-1] == "Ranked 2. Cost: unknown for 2 lines."


async def test_the_installations_budget_stops_the_run(home: Home) -> None:
    async with ModelServer() as server:
        config = f"{priced_config(server.api_base)}\n[budgets]\nday_usd = 0.001\n"
        home.with_config(config)

        ran = await home.invoke_in_thread("rank", a_file(home, map(a_line, range(3))))

    assert (ran.code, ran.out) == (1, "")
    assert "the budget of $0.001 a day" in ran.err
    assert "3 lines left" in ran.err


async def test_a_cap_needs_known_prices(home: Home) -> None:
    async with ModelServer() as server:
        home.with_config(served_config(server.api_base, JUDGES))

        ran = await home.invoke_in_thread("rank", a_file(home, [a_line(1)]), "--max-usd", "1")

    assert (ran.code, "so --max-usd can't be kept" in ran.err) == (1, True)
    assert not any(server.asked(name) for name in JUDGES)


# --- Kills


@pytest.mark.parametrize(
    ("lines", "kills"),
    [(12, (9, 10)), pytest.param(200, (100, 150, 90), marks=pytest.mark.nightly, id="nightly")],
)
async def test_a_killed_run_asks_for_nothing_twice_but_calls_in_flight(
    tmp_path: Path, lines: int, kills: tuple[int, ...]
) -> None:
    async with PaidServer(latency=0.08, votes_once=True) as server:
        home = Home(tmp_path).with_tables().with_config(served_config(server.api_base, JUDGES))
        out = tmp_path / "out.jsonl"
        arguments = ("rank", a_file(home, map(a_line, range(lines))), "--output", str(out))
        killed_at = []
        for calls in kills:
            process = await home.started(*arguments, fresh=True)
            wanted = server.bill.total + calls
            async with asyncio.timeout(TIMEOUT_SECONDS):
                while server.bill.total < wanted:  # noqa: ASYNC110 - a process of its own asks
                    await asyncio.sleep(0.005)
            process.kill()
            killed_at.append(time.time())
            await process.communicate()

        ended = await home.invoke_in_thread(*arguments)

    assert ended.code == 0
    assert max(server.bill.again(killed_at), default=0.0) <= MARGIN_SECONDS
    assert len(server.bill.calls) == lines * len(JUDGES)
    ids = [line["id"] for line in results(out.read_text(encoding="utf-8"))]
    assert sorted(ids) == sorted(f"q{number}" for number in range(lines))
    assert not out.with_name("out.jsonl.ballots").exists()
