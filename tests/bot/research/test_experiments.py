"""The experiment end to end: it finds exactly the biases planted in the model server."""

import asyncio
import json
from pathlib import Path

import pytest

from bot.research.grade_files import read_grades
from council.research.grades import Finding, FindingKind, Framing, build_grade_report, findings
from tests.bot.homes import TIMEOUT_SECONDS, Home, interrupt, panel_toml, seat_toml, served_config
from tests.wire.models import ModelServer, answer, fail
from tests.wire.models.behaviours import Planted

SELFISH, FAIR, STRICT, PLAIN = MEMBERS = ("amber", "birch", "cedar", "dahlia")
PLANTED = Planted(own={SELFISH: 1.2}, strict={STRICT: 1.0}, quality={FAIR: 0.4, PLAIN: 0.2})
COLUMNS = ["article_id", "framing", "judge", "author", "score", "raw", "thesis_score", "parse"]
COLUMNS += ["tokens_in", "tokens_out"]
SAVED = """
    SELECT (SELECT count(*) FROM experiment_answer) + (SELECT count(*) FROM experiment_mark)
"""


def key(member: str) -> str:
    return f"openai/{member}"


def at_home(folder: Path, server: ModelServer, questions: int) -> Home:
    for member in MEMBERS:
        server.script.setdefault(member, PLANTED.behaviour())
    text = "\n".join(f"What now, in case {number}?" for number in range(1, questions + 1))
    (folder / "cases.txt").write_text(text)
    return Home(folder).with_config(served_config(server.api_base, MEMBERS))


def run_of(home: Home, *options: str) -> tuple[str, ...]:
    return ("bias", "run", str(home.folder / "cases.txt"), "--yes", *options)


def found_of(found: list[Finding], kind: FindingKind) -> set[tuple[str, Framing]]:
    return {(one.row.judge, one.row.framing) for one in found if one.kind is kind}


@pytest.mark.parametrize("questions", [8, pytest.param(20, marks=pytest.mark.nightly)])
async def test_what_was_planted_is_what_is_found(tmp_path: Path, questions: int) -> None:
    output = tmp_path / "grades.jsonl"
    async with ModelServer() as server:
        home = at_home(tmp_path, server, questions)
        ran = await home.invoke_in_thread(*run_of(home, "--output", str(output), "--json"))

    assert ran.code == 0, ran.err
    found = [*findings(build_grade_report(read_grades("g", output.read_bytes()).grades))]
    both = [*Framing]
    assert found_of(found, FindingKind.PREFERENCE) == {(key(SELFISH), framing) for framing in both}
    assert found_of(found, FindingKind.LENIENCY) == {(key(STRICT), framing) for framing in both}
    assert all(finding.is_found for finding in found)
    sizes = [row["did"] for row in ran.json["rows"] if row["judge"] == key(SELFISH)]
    assert sizes == pytest.approx([1.2, 1.2], abs=0.45)
    said = ran.json["findings"]
    assert said[0].startswith(f"{key(SELFISH)} prefers its own work by ")
    assert any(line.startswith(f"{key(STRICT)} is strict") for line in said)


async def test_the_grades_are_written_in_the_columns_of_the_thesis(tmp_path: Path) -> None:
    output = tmp_path / "grades.jsonl"
    async with ModelServer() as server:
        home = at_home(tmp_path, server, 1)
        await home.invoke_in_thread(*run_of(home, "--output", str(output)))

    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert len(rows) == 2 * len(MEMBERS) ** 2
    assert all([*row] == COLUMNS for row in rows)
    assert all(
        row["score"] == (row["raw"] if row["framing"] == "pos" else 6 - row["raw"]) for row in rows
    )
    assert {row["parse"] for row in rows} == {"strict"}
    assert all(row["tokens_in"] > 0 and row["tokens_out"] > 0 for row in rows)
    again = await home.invoke_in_thread("bias", str(output), "--json")
    assert again.json["grades"] == len(rows)


async def test_each_call_is_a_conversation_of_its_own_at_its_temperature(tmp_path: Path) -> None:
    async with ModelServer() as server:
        home = at_home(tmp_path, server, 1)
        await home.invoke_in_thread(*run_of(home))

        grading = [request for request in server.requests if "Nonce:" in request.user]
        answering = [request for request in server.requests if request not in grading]

    assert (len(answering), len(grading)) == (4, 32)
    assert {request.body["temperature"] for request in answering} == {1.0}
    assert {request.body["temperature"] for request in grading} == {0.0}
    assert all([m["role"] for m in request.messages] == ["system", "user"] for request in grading)
    assert not any("openai" in request.user for request in grading)


def purposes(server: ModelServer) -> list[tuple[str, str, str]]:
    return [(request.model, request.system, request.user) for request in server.requests]


async def until_calls(server: ModelServer, calls: int) -> None:
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while len(server.requests) < calls:  # noqa: ASYNC110 - a process of its own asks
            await asyncio.sleep(0.005)


@pytest.mark.nightly
async def test_stopped_and_killed_it_repeats_nothing_that_was_saved(tmp_path: Path) -> None:
    async with ModelServer(latency=0.05) as server:
        home = at_home(tmp_path, server, 3)
        process = await home.started(*run_of(home), fresh=True)
        await until_calls(server, 20)
        interrupted = await interrupt(process)
        process = await home.started(*run_of(home), fresh=True)
        await until_calls(server, 60)
        meanwhile = await home.invoke_in_thread(*run_of(home))
        process.kill()
        await process.communicate()
        saved = home.sql(SAVED)[0][0]
        before = len(server.requests)
        ran = await home.invoke_in_thread(*run_of(home, "--json"))
        asked = purposes(server)

    whole = 3 * 4 * (1 + 4 * 2)
    assert interrupted.code == 1
    assert "Stopped. Your progress is saved. Resume with the same command." in interrupted.err
    assert meanwhile.code == 1
    assert "is already running in another process on this machine" in meanwhile.err
    assert ran.code == 0, ran.err
    assert "Resuming bx:" in ran.err
    assert (ran.json["experiment"]["answers"], ran.json["experiment"]["grades"]) == (12, 96)
    assert len(asked) - before == whole - saved
    assert len({*asked}) == whole
    assert home.sql("SELECT count(*) FROM experiment") == [(1,)]


async def test_a_failing_member_is_reported_and_fails_alone(tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.script[PLAIN] = fail(401)
        home = at_home(tmp_path, server, 2)
        ran = await home.invoke_in_thread(*run_of(home, "--json"))

    experiment = ran.json["experiment"]
    assert ran.code == 0, ran.err
    assert (experiment["answers"], experiment["grades"]) == (6, 2 * 3 * 3 * 2)
    assert {failure["member"] for failure in experiment["failed"]} == {key(PLAIN)}
    assert "Run the same command to resume; only what is missing is asked." in ran.err


async def test_replies_without_a_grade_are_counted_and_asked_for_once_more(tmp_path: Path) -> None:
    output = tmp_path / "grades.jsonl"
    async with ModelServer() as server:
        server.script[PLAIN] = answer("I would give it a 4, since it says dahlia.")
        home = at_home(tmp_path, server, 1)
        ran = await home.invoke_in_thread(*run_of(home, "--output", str(output), "--json"))
        asked = [request for request in server.asked(PLAIN) if "Nonce:" in request.user]

    rows = [json.loads(line) for line in output.read_text().splitlines()]
    failed = [row for row in rows if row["parse"] == "fail"]
    assert len(asked) == 2 * len(failed) == 16
    assert all((row["score"], row["raw"]) == (None, None) for row in failed)
    assert ran.json["absent"] == ran.json["experiment"]["spoiled"] == 8


async def test_a_run_without_any_answer_fails(tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.script.update(dict.fromkeys(MEMBERS, fail(401)))
        home = at_home(tmp_path, server, 1)
        ran = await home.invoke_in_thread(*run_of(home))

    assert ran.code == 1
    assert "0 answers, 0 grades" in ran.err


def dear_panel(server: ModelServer) -> str:
    sections = "".join(
        seat_toml(
            key(member),
            api_base=server.api_base,
            input_usd_per_million=0,
            output_usd_per_million=1000,
            max_tokens=50,
        )
        for member in MEMBERS
    )
    return panel_toml(map(key, MEMBERS)) + sections


async def test_a_cap_stops_it_and_a_higher_one_continues(tmp_path: Path) -> None:
    async with ModelServer() as server:
        home = at_home(tmp_path, server, 1).with_config(dear_panel(server))
        first = await home.invoke_in_thread(*run_of(home, "--usd", "0.15", "--json"))
        asked = len(server.requests)
        second = await home.invoke_in_thread(*run_of(home, "--usd", "5", "--json"))

    assert first.code == 1
    assert "with a cap of $0.15 in total" in " ".join(first.err.split())
    assert "the experiment's budget of $0.15 is used up" in first.json["experiment"]["stopped"]
    assert 0 < first.json["experiment"]["spent_usd"] <= 0.15
    assert second.code == 0, second.err
    assert second.json["experiment"]["stopped"] is None
    assert len({*purposes(server)}) == len(server.requests) == 36
    assert asked < 36
