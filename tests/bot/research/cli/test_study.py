"""`council lab study`: run, stopped, resumed, verified and reported."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from hashlib import sha256
from itertools import cycle
from pathlib import Path

import pytest

from bot.research.study_files import (
    REPLIES,
    RESULT,
    StudyFolder,
    parse_questions,
    read_study_file,
)
from bot.research.study_report import report_markdown, verdict
from council.registry import NO_PLUGINS
from council.research.study import Arm
from tests.bot.homes import TIMEOUT_SECONDS, Home, seat_toml
from tests.bot.research.study_folders import run_study, study_toml, write_study
from tests.wire.models import ModelServer, by_role, fail

SERVED = ("up", "down", "left")
ROUNDS_AT_ONCE = 2  # the default
PRICED = {"input_usd_per_million": 10, "output_usd_per_million": 10, "max_tokens": 500}
EXAMPLES = Path(__file__).parents[4] / "docs/examples/study"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path).with_config("").with_tables()


def a_served_study(
    home: Home,
    api_base: str,
    *,
    usd: float = 50.0,
    question_usd: float = 0.5,
    arms: Sequence[str] = tuple(Arm),
) -> None:
    """Write a study on models of a server, whose prices are known."""
    keys = [f"openai/{name}" for name in SERVED]
    home.with_config("".join(seat_toml(key, api_base=api_base, **PRICED) for key in keys))
    write_study(home, study_toml(keys, usd=usd, question_usd=question_usd, arms=[*arms]))


def test_a_study_is_run_verified_and_reported(home: Home) -> None:
    write_study(home)

    ran = run_study(home)
    verified = home.invoke("lab", "study", "verify", "out")
    reported = home.invoke("lab", "study", "report", "out")
    document = home.invoke("lab", "study", "report", "out", "--json").json

    assert (ran.code, verified.code, reported.code) == (0, 0, 0), ran.err + verified.out
    assert "The cap is $1.00." in ran.err
    assert verified.out.startswith("Verified: every number follows from the ")
    assert document["replies"]["head"] in verified.out
    assert ran.out == reported.out == report_markdown(document)
    assert document == json.loads((home.folder / "out" / RESULT).read_text())
    assert len(reported.out.splitlines()) < 30  # one page
    panel = document["panels"]["house"]
    assert [line["arm"] for line in panel["arms"]] == ["best", "draws", "fusion", "council"]
    assert [gain["over"] for gain in panel["gains"]] == ["best", "draws", "fusion"]
    assert set(panel["picks"]) == {"1", "2"}
    assert len(document["questions"]) == 4


def test_json_of_a_run_is_its_document(home: Home) -> None:
    write_study(home, study_toml(arms=["best", "council"]))

    ran = run_study(home, "--json")

    assert ran.json["study"]["arms"] == ["best", "council"]
    assert ran.json["questions"][0]["fusion"] is None


def test_two_panels_are_two_parts_of_the_report(home: Home) -> None:
    more = '[panels.other]\nmembers = ["scripted/random-4", "scripted/random-5", "scripted/random"]'
    write_study(home, study_toml(panel=more))

    ran = run_study(home)

    assert ran.code == 0
    assert "## house" in ran.out
    assert "## other" in ran.out
    assert home.invoke("lab", "study", "verify", "out").code == 0


def test_a_folder_with_a_study_needs_resume(home: Home) -> None:
    write_study(home)
    first = run_study(home)

    again, resumed = run_study(home), run_study(home, "--resume")

    assert (again.code, resumed.code) == (2, 0)
    assert "out has a study already. Continue it with --resume" in again.err
    assert resumed.out == first.out  # nothing is asked again


def test_resume_starts_a_study_where_there_is_none(home: Home) -> None:
    write_study(home)

    assert run_study(home, "--resume").code == 0


@pytest.mark.parametrize("name", ["small.toml", "q.jsonl"])
def test_a_study_whose_file_was_edited_is_not_resumed(home: Home, name: str) -> None:
    write_study(home)
    run_study(home)
    (home.folder / name).write_text(f"{(home.folder / name).read_text()}\n")

    result = run_study(home, "--resume")

    assert result.code == 1
    edited = "study.toml" if name == "small.toml" else name
    assert f"{edited} was edited after the study in out began. Restore it" in result.err


def test_a_tampered_study_is_neither_resumed_nor_reported_and_verify_names_the_line(
    home: Home,
) -> None:
    write_study(home)
    run_study(home)
    replies = home.folder / "out" / REPLIES
    replies.write_text(replies.read_text().replace('"line":3}', '"line":3,"x":1}'))

    resumed = run_study(home, "--resume")
    reported = home.invoke("lab", "study", "report", "out")
    verified = home.invoke("lab", "study", "verify", "out")

    assert (resumed.code, reported.code, verified.code) == (1, 1, 1)
    assert "line 3 was changed" in resumed.err
    assert "line 3 was changed" in reported.err
    assert "replies.jsonl, line 3 was changed" in verified.out


def test_a_study_that_was_cut_says_what_is_missing_and_resumes(home: Home) -> None:
    write_study(home)
    whole = run_study(home)
    path = home.folder / "out" / REPLIES
    content = path.read_bytes()
    lines = content.splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:20], lines[20][:30]]))

    reported = home.invoke("lab", "study", "report", "out")
    resumed = run_study(home, "--resume")

    assert reported.code == 0
    assert "**Incomplete.** Panel house lacks draws for 4 of 4 questions." in reported.out
    assert "Panel house lacks replies for " in reported.out
    assert resumed.code == 0
    assert resumed.out.splitlines()[:9] == whole.out.splitlines()[:9]
    assert path.read_bytes().splitlines()[:20] == content.splitlines()[:20]
    assert home.invoke("lab", "study", "verify", "out").code == 0


def test_a_study_without_a_whole_line_starts_anew(home: Home) -> None:
    write_study(home)
    (home.folder / "out").mkdir()
    (home.folder / "out" / REPLIES).write_text('{"line"')

    reported = home.invoke("lab", "study", "report", "out")
    resumed = run_study(home, "--resume")

    assert (reported.code, resumed.code) == (2, 0)
    assert home.invoke("lab", "study", "verify", "out").code == 0


def test_a_folder_without_a_study_is_reported(home: Home) -> None:
    for command in ("verify", "report"):
        result = home.invoke("lab", "study", command, "none")

        assert result.code == 2
        assert "Name the folder of a study." in result.err


def test_a_second_process_is_refused(home: Home) -> None:
    write_study(home)
    with StudyFolder(home.folder / "out").locked():
        result = run_study(home)

    assert result.code == 1
    assert "Another process is running the study in out." in result.err


def test_a_seat_that_is_another_model_now_is_not_resumed(home: Home) -> None:
    home.with_config(seat_toml("one", model="scripted/random-1"))
    write_study(home, study_toml(["one", "scripted/random-2", "scripted/random-3"]))
    assert run_study(home).code == 0

    home.with_config(seat_toml("one", model="scripted/random-9"))
    result = run_study(home, "--resume")

    assert result.code == 1
    assert "one was scripted/random-1 when the study began and is scripted/random-9" in result.err


# --- Money, failures and kills, with a model server


async def test_a_cap_in_the_middle_holds_and_the_report_says_what_is_missing(home: Home) -> None:
    async with ModelServer() as server:
        a_served_study(home, server.api_base, usd=0.03)
        capped = await home.invoke_in_thread(
            "lab", "study", "run", "small.toml", "--output", "out", "--yes"
        )

    verified = await home.invoke_in_thread("lab", "study", "verify", "out")
    document = json.loads((home.folder / "out" / RESULT).read_text())
    assert capped.code == 1
    assert "The cap of the study, $0.03, is reached." in capped.err
    assert "**Incomplete.** Panel house lacks " in capped.out
    assert 0 < document["spent_usd"] <= 0.03
    assert verified.code == 0, verified.out  # what is there is as it was


async def test_a_model_of_unknown_price_is_refused_before_any_call(home: Home) -> None:
    async with ModelServer() as server:
        keys = [f"openai/{name}" for name in SERVED]
        home.with_config("".join(seat_toml(key, api_base=server.api_base) for key in keys))
        write_study(home, study_toml(keys))
        result = await home.invoke_in_thread(
            "lab", "study", "run", "small.toml", "--output", "out", "--yes"
        )

    assert result.code == 1
    assert "The price of openai/up is unknown, so the study's caps can't be kept." in result.err
    assert not server.asked("up")
    assert not (home.folder / "out" / REPLIES).exists()


async def test_a_model_that_fails_half_of_its_calls_is_named_in_the_report(home: Home) -> None:
    async with ModelServer() as server:
        turn = cycle((fail(400), by_role()))
        server.script["down"] = lambda request: next(turn)(request)
        a_served_study(home, server.api_base)
        ran = await home.invoke_in_thread(
            "lab", "study", "run", "small.toml", "--output", "out", "--yes"
        )

    assert ran.code == 0
    assert "calls to openai/down failed." in ran.out
    assert (await home.invoke_in_thread("lab", "study", "verify", "out")).code == 0


async def test_a_killed_run_asks_again_only_what_was_under_way(home: Home) -> None:
    async with ModelServer(latency=0.05) as server:
        a_served_study(home, server.api_base, arms=("fusion", "council"))
        command = ("lab", "study", "run", "small.toml", "--output", "out", "--yes")
        process = await home.started(*command, fresh=True)
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while sum(len(server.asked(name)) for name in SERVED) < 12:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        process.kill()
        await process.communicate()
        before = len(StudyFolder(home.folder / "out").read().calls)

        ended = await home.invoke_in_thread(*command, "--resume")

    total = sum(len(server.asked(name)) for name in SERVED)
    stored = len(StudyFolder(home.folder / "out").read().calls)
    assert ended.code == 0
    assert before > 0
    assert 0 <= total - stored <= ROUNDS_AT_ONCE * len(SERVED)  # those under way at the kill


# --- The report's words, and what is shipped


@pytest.mark.parametrize(
    ("ci", "start"),
    [
        ([0.01, 0.1], "The council beat its best single member"),
        ([-0.1, -0.01], "The council was worse than its best single member"),
        ([-0.1, 0.1], "No clear difference from its best single member"),
    ],
)
def test_the_verdict_follows_from_the_interval(ci: list[float], start: str) -> None:
    gain = {"over": "best", "ci": ci, "right": 9, "questions": 10, "other_right": 8}

    assert verdict(gain) == f"{start}: 9 of 10 right against 8."


def test_the_example_on_demo_models_can_be_recomputed(home: Home) -> None:
    verified = home.invoke("lab", "study", "verify", str(EXAMPLES / "demo"))
    reported = home.invoke("lab", "study", "report", str(EXAMPLES / "demo"))

    assert verified.code == 0, verified.out
    assert reported.out == (EXAMPLES / "demo/report.md").read_text(encoding="utf-8")


async def test_the_study_for_users_with_keys_has_300_questions_with_checkable_answers(
    home: Home,
) -> None:
    script = EXAMPLES / "make_questions.py"
    made = await asyncio.to_thread(
        subprocess.run, [sys.executable, str(script)], capture_output=True, check=True
    )
    (home.folder / "questions.jsonl").write_bytes(made.stdout)
    (home.folder / "study.toml").write_bytes((EXAMPLES / "study.toml").read_bytes())

    file = read_study_file(home.folder / "study.toml")
    suite = parse_questions(file, NO_PLUGINS)

    assert len(suite.questions) == 300
    assert len({question.text for question in suite.questions}) == 300
    assert f"SHA-256 {sha256(made.stdout).hexdigest()}" in file.content.decode()


async def test_calls_that_the_cap_of_a_question_refuses_are_counted_in_the_report(
    home: Home,
) -> None:
    async with ModelServer() as server:
        a_served_study(home, server.api_base, question_usd=0.02)
        ran = await home.invoke_in_thread(
            "lab", "study", "run", "small.toml", "--output", "out", "--yes"
        )

    assert ran.code == 0
    assert "The cap of a question left no money for " in ran.out
    assert " failed." not in ran.out
