"""`council forget`: what was said is gone from every file, what was counted stays."""

import json

import pytest

from tests.bot.homes import Home, scripted_config

QUESTION = "Which queue should we use?"  # as held by the fixture
LONG_AGO = "UPDATE round SET asked_at = '2001-01-01 00:00:00.000000'"


@pytest.fixture
def gone(held: tuple[Home, str]) -> tuple[Home, str]:
    home, round_id = held
    assert home.invoke("forget", round_id).code == 0
    return home, round_id


def test_no_byte_of_what_was_said_is_left(held: tuple[Home, str]) -> None:
    home, round_id = held
    texts = [row[0] for row in home.sql("SELECT text FROM answer UNION SELECT text FROM synthesis")]
    assert QUESTION.encode() in home.stored_bytes()

    ran = home.invoke("forget", round_id)

    assert (ran.code, ran.err) == (0, "")
    assert f"Round {round_id} is forgotten" in ran.out
    left = home.stored_bytes()
    assert [text for text in (QUESTION, *texts) if text.encode() in left] == []


def test_what_was_counted_stays(held: tuple[Home, str]) -> None:
    home, round_id = held
    before = home.invoke("show", round_id, "--json").json
    home.invoke("forget", round_id)

    after = home.invoke("show", round_id, "--json").json

    kept = ("seed", "panel", "standings", "verdict", "cost_usd", "tokens_in", "seconds", "stage")
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    assert [b["ranking"] for b in after["ballots"]] == [b["ranking"] for b in before["ballots"]]
    assert (after["question"], before["forgotten"]) == ("", None)
    assert after["forgotten"]


def test_verifying_says_since_when_it_is_forgotten(gone: tuple[Home, str]) -> None:
    home, round_id = gone

    ran = home.invoke("verify", round_id)

    assert ran.code == 0
    assert f"Round {round_id}: forgotten on 20" in ran.out
    assert home.invoke("verify", "--all").code == 0


def test_what_is_changed_afterwards_is_still_found(gone: tuple[Home, str]) -> None:
    home, round_id = gone
    home.sql("UPDATE standing SET points = points + 1 WHERE position = 0")

    ran = home.invoke("verify", round_id)

    assert ran.code == 1
    assert ".points: stored" in ran.out


def test_it_is_shown_and_listed_kindly(gone: tuple[Home, str]) -> None:
    home, round_id = gone

    shown, listed = home.invoke("show", round_id), home.invoke("rounds")

    assert "was forgotten on" in " ".join(shown.out.split())
    assert "Response" in shown.out
    assert listed.out.split()[3] == "forgotten"


def test_nobody_goes_on_with_it(gone: tuple[Home, str]) -> None:
    home, round_id = gone

    ran = home.invoke("ask", "--resume", round_id)

    assert (ran.code, ran.out, len(ran.lines)) == (1, "", 1)
    assert "was forgotten on" in ran.err


def test_forgetting_twice_says_so(gone: tuple[Home, str]) -> None:
    home, round_id = gone

    ran = home.invoke("forget", round_id)

    assert ran.code == 0
    assert "forgotten before" in ran.out


@pytest.mark.parametrize("is_forgotten", [False, True])
def test_whoever_holds_a_text_can_prove_it(held: tuple[Home, str], is_forgotten: bool) -> None:
    home, round_id = held
    mine, other = home.folder / "mine.txt", home.folder / "other.txt"
    mine.write_text(QUESTION + "\n", encoding="utf-8")
    other.write_text("Another?", encoding="utf-8")
    if is_forgotten:
        home.invoke("forget", round_id)

    proven = home.invoke("verify", round_id, "--text", str(mine))
    refuted = home.invoke("verify", round_id, "--text", str(other))

    assert proven.code == 0
    assert "mine.txt is question" in proven.out
    assert (refuted.code, "is no text of it" in refuted.out) == (1, True)


@pytest.mark.parametrize("file", ["missing.txt", "council.db"])
def test_a_file_that_is_no_text_is_misuse(held: tuple[Home, str], file: str) -> None:
    home, round_id = held
    (home.data / "council.db").touch()
    path = home.data / file
    if file == "council.db":
        path = home.folder / "bytes"
        path.write_bytes(b"\xff\xfe\xff")

    ran = home.invoke("verify", round_id, "--text", str(path))

    assert (ran.code, len(ran.lines)) == (2, 1)


def test_a_round_that_is_not_there_is_a_sentence(home: Home) -> None:
    ran = home.invoke("forget", "beef")

    assert (ran.code, ran.out) == (1, "")
    assert "There is no round 'beef'" in ran.err


def test_a_round_before_its_end_has_to_be_stopped_first(held: tuple[Home, str]) -> None:
    home, round_id = held
    home.sql("UPDATE round SET seconds = NULL")

    refused = home.invoke("forget", round_id)
    forgotten = home.invoke("forget", round_id, "--unfinished")

    assert (refused.code, "stop it first" in refused.err) == (1, True)
    assert forgotten.code == 0
    assert "was forgotten on" in " ".join(home.invoke("show", round_id).out.split())
    assert home.invoke("ask", "--resume", round_id).code == 1


def test_what_is_old_is_forgotten_and_nothing_else(held: tuple[Home, str]) -> None:
    home, old = held
    home.sql(LONG_AGO)
    new = home.invoke("ask", "And how?", "--json").json["id"]

    ran = home.invoke("forget", "--older-than", "90")

    assert (ran.code, ran.out) == (0, "1 round older than 90 days forgotten.\n")
    states = {line["id"]: "forgotten" in line for line in home.invoke("rounds", "--json").json}
    assert states == {old: True, new: False}
    assert QUESTION.encode() not in home.stored_bytes()


def test_an_old_round_that_cannot_be_read_is_told_of(held: tuple[Home, str]) -> None:
    home, round_id = held
    home.sql(LONG_AGO)
    home.sql("UPDATE verdict SET strength = 'crushing'")

    ran = home.invoke("forget", "--older-than", "90")

    assert ran.code == 1
    assert round_id in ran.err
    assert ran.out.startswith("0 rounds")


@pytest.mark.parametrize(
    "arguments", [(), ("beef", "--older-than", "3"), ("--older-than", "0")], ids=str
)
def test_one_round_or_an_age_has_to_be_named(home: Home, arguments: tuple[str, ...]) -> None:
    assert home.invoke("forget", *arguments).code == 2


async def test_serving_forgets_what_is_too_old(held: tuple[Home, str]) -> None:
    home, round_id = held
    home.sql(LONG_AGO)
    home = home.with_config(scripted_config() + "[retention]\ntexts_days = 90\n").with_settings(
        COUNCIL_PORT="0"
    )
    process = await home.started("serve")
    assert process.stderr is not None
    async for line in process.stderr:
        if b"rounds_forgotten" in line:
            break
    process.terminate()
    await process.communicate()

    assert json.loads(line)["rounds"] == 1
    assert process.returncode == 0
    assert "forgotten on" in (await home.beside("verify", round_id)).out
