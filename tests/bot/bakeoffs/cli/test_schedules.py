"""`council schedule`: from words to a list with next times, and what a doctor says of it."""

import pytest

from tests.bot.homes import Home, scripted_config

SUITES = '[suites.sql]\nquestions = ["Why WAL?", "Why MVCC?"]\n'
ADD = ("schedule", "add", "weekly-sql", "suite:sql", "every", "monday", "09:00", "Europe/Budapest")


@pytest.fixture
def home(home: Home) -> Home:
    return home.with_config(f'time_zone = "Asia/Tokyo"\n{scripted_config(3)}{SUITES}')


def test_without_schedules_the_shells_command_is_named(home: Home) -> None:
    listed = home.invoke("schedule", "list").out

    assert "council schedule add NAME" in listed
    assert "/council" not in listed


def test_a_new_schedule_is_described_and_listed(home: Home) -> None:
    added = home.invoke(*ADD)
    listed = home.invoke("schedule", "list")
    (line,) = home.invoke("schedule", "list", "--json").json

    text = " ".join(added.out.split())
    assert added.code == 0
    assert "Every Monday at 09:00, Europe/Budapest time: suite sql of 2 questions" in text
    assert "posted on the page" in text
    assert "weekly-sql" in listed.out
    assert (line["name"], line["cron"], line["zone"]) == (
        "weekly-sql",
        "0 9 * * 1",
        "Europe/Budapest",
    )
    assert [when[11:16] for when in line["next"]] == ["09:00"] * 3
    assert (line["paused"], line["last"], line["fault"], line["run_usd"]) == (False, None, "", 0)
    assert line["runs_a_month"] == pytest.approx(52 / 12)


def test_the_default_time_zone_applies(home: Home) -> None:
    added = home.invoke("schedule", "add", "daily", "suite:sql", "0 9 * * *")

    assert "Time zone: Asia/Tokyo (the default" in " ".join(added.out.split())
    (line,) = home.invoke("schedule", "list", "--json").json
    assert (line["cron"], line["zone"]) == ("0 9 * * *", "Asia/Tokyo")


def test_a_schedule_is_paused_changed_resumed_and_removed(home: Home) -> None:
    home.invoke(*ADD)

    assert home.invoke("schedule", "pause", "weekly-sql").code == 0
    assert home.invoke("schedule", "list", "--json").json[0]["next"] == []
    assert home.invoke("schedule", "edit", "weekly-sql", "every", "day", "10:00").code == 0
    assert home.invoke("schedule", "resume", "weekly-sql").code == 0
    (line,) = home.invoke("schedule", "list", "--json").json
    assert (line["cron"], line["paused"]) == ("0 10 * * *", False)
    assert home.invoke("schedule", "remove", "weekly-sql").code == 0
    assert home.invoke("schedule", "list", "--json").json == []


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("add", "w", "suite:sql", "whenever"), "I don't understand 'whenever'"),
        (("add", "w", "suite:sql", "0 9 30 2 *"), "never runs"),
        (("add", "w", "suite:sql", "every", "day", "9:00", "Mars/X"), "There is no time zone"),
        (
            ("add", "w", "suite:sql", "every", "day", "9:00", "#models"),
            "There are no channels here",
        ),
        (("pause", "nothing"), "There is no schedule 'nothing' here. Known schedules: none yet."),
    ],
)
def test_bad_usage_says_why(home: Home, words: tuple[str, ...], why: str) -> None:
    result = home.invoke("schedule", *words)

    assert result.out == ""
    assert result.code == (1 if words[-1] == "#models" else 2)
    assert why in result.err


def test_a_run_now_completes_and_is_the_last(home: Home) -> None:
    home.invoke(*ADD)

    result = home.invoke("schedule", "run", "weekly-sql")

    assert result.code == 0
    (line,) = home.invoke("schedule", "list", "--json").json
    assert line["last"]["ended"]
    assert line["last"]["bakeoff"].startswith(f"sched:{line['id']}@now-")


def test_the_doctor_names_schedules_that_cannot_run(home: Home) -> None:
    home.invoke(*ADD)
    sound = home.invoke("doctor")
    home.sql("UPDATE schedule SET panel = 'velvet'")
    without_panel = home.invoke("doctor")
    home.sql("UPDATE schedule SET panel = 'house', cron = 'whenever'")
    broken = home.invoke("doctor")
    home.sql("UPDATE schedule SET cron = '0 9 * * 1', chat = 'slack', workspace = 'T1'")
    without_token = home.invoke("doctor")

    assert "ok   schedule weekly-sql: every Monday at 09:00, next Mon " in sound.out
    assert "FAIL schedule weekly-sql: cannot run: There is no panel 'velvet'" in without_panel.out
    assert "FAIL schedule weekly-sql: its cron 'whenever'" in broken.out
    assert "FAIL schedule weekly-sql: reports to slack, which has no token" in without_token.out
