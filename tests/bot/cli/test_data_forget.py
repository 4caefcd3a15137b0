"""`council forget`: the texts are gone from every file, the counts stay."""

import json

import pytest

from tests.bot.homes import Home, scripted_config

QUESTION = "Which queue should we use?"  # of the stored round
LONG_AGO = "UPDATE round SET asked_at = '2001-01-01 00:00:00.000000'"


@pytest.fixture
def gone(stored_round: tuple[Home, str]) -> tuple[Home, str]:
    home, round_id = stored_round
    assert home.invoke("forget", round_id).code == 0
    return home, round_id


def test_no_byte_of_the_texts_is_left(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round
    texts = [row[0] for row in home.sql("SELECT text FROM answer UNION SELECT text FROM synthesis")]
    assert QUESTION.encode() in home.stored_bytes()

    result = home.invoke("forget", round_id)

    assert (result.code, result.err) == (0, "")
    assert f"Round {round_id} is forgotten" in result.out
    left = home.stored_bytes()
    assert [text for text in (QUESTION, *texts) if text.encode() in left] == []


def test_the_counts_stay(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round
    before = home.invoke("show", round_id, "--json").json
    home.invoke("forget", round_id)

    after = home.invoke("show", round_id, "--json").json

    kept = ("seed", "panel", "standings", "verdict", "cost_usd", "tokens_in", "seconds", "stage")
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    assert [b["ranking"] for b in after["ballots"]] == [b["ranking"] for b in before["ballots"]]
    assert (after["question"], before["forgotten"]) == ("", None)
    assert after["forgotten"]


def test_verify_says_when_a_round_was_forgotten(gone: tuple[Home, str]) -> None:
    home, round_id = gone

    result = home.invoke("verify", round_id)

    assert result.code == 0
    assert f"Round {round_id}: forgotten on 20" in result.out
    assert home.invoke("verify", "--all").code == 0


def test_a_change_after_forgetting_is_found(gone: tuple[Home, str]) -> None:
    home, round_id = gone
    home.sql("UPDATE standing SET points = points + 1 WHERE position = 0")

    result = home.invoke("verify", round_id)

    assert result.code == 1
    assert ".points: stored" in result.out


def test_a_forgotten_round_is_shown_and_listed(gone: tuple[Home, str]) -> None:
    home, round_id = gone

    shown, listed = home.invoke("show", round_id), home.invoke("rounds")

    assert "was forgotten on" in " ".join(shown.out.split())
    assert "Response" in shown.out
    assert listed.out.split()[3] == "forgotten"


def test_a_forgotten_round_cannot_be_resumed(gone: tuple[Home, str]) -> None:
    home, round_id = gone

    result = home.invoke("ask", "--resume", round_id)

    assert (result.code, result.out, len(result.lines)) == (1, "", 1)
    assert "was forgotten on" in result.err


def test_forgetting_twice_says_so(gone: tuple[Home, str]) -> None:
    home, round_id = gone

    result = home.invoke("forget", round_id)

    assert result.code == 0
    assert "forgotten before" in result.out


@pytest.mark.parametrize("is_forgotten", [False, True])
def test_a_text_can_be_proven(stored_round: tuple[Home, str], is_forgotten: bool) -> None:
    home, round_id = stored_round
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
def test_a_file_that_is_no_text_is_bad_usage(stored_round: tuple[Home, str], file: str) -> None:
    home, round_id = stored_round
    (home.data / "council.db").touch()
    path = home.data / file
    if file == "council.db":
        path = home.folder / "bytes"
        path.write_bytes(b"\xff\xfe\xff")

    result = home.invoke("verify", round_id, "--text", str(path))

    assert (result.code, len(result.lines)) == (2, 1)


def test_an_unknown_round_cannot_be_forgotten(home: Home) -> None:
    result = home.invoke("forget", "beef")

    assert (result.code, result.out) == (1, "")
    assert "There is no round 'beef'" in result.err


def test_an_unfinished_round_is_forgotten_only_on_request(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round
    home.sql("UPDATE round SET seconds = NULL")

    refused = home.invoke("forget", round_id)
    forgotten = home.invoke("forget", round_id, "--unfinished")

    assert (refused.code, "stop it first" in refused.err) == (1, True)
    assert forgotten.code == 0
    assert "was forgotten on" in " ".join(home.invoke("show", round_id).out.split())
    assert home.invoke("ask", "--resume", round_id).code == 1


def test_only_old_rounds_are_forgotten(stored_round: tuple[Home, str]) -> None:
    home, old = stored_round
    home.sql(LONG_AGO)
    new = home.invoke("ask", "And how?", "--json").json["id"]

    result = home.invoke("forget", "--older-than", "90")

    assert (result.code, result.out) == (0, "1 round older than 90 days forgotten.\n")
    states = {line["id"]: "forgotten" in line for line in home.invoke("rounds", "--json").json}
    assert states == {old: True, new: False}
    assert QUESTION.encode() not in home.stored_bytes()


def test_an_old_unreadable_round_is_reported(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round
    home.sql(LONG_AGO)
    home.sql("UPDATE verdict SET strength = 'crushing'")

    result = home.invoke("forget", "--older-than", "90")

    assert result.code == 1
    assert round_id in result.err
    assert result.out.startswith("0 rounds")


@pytest.mark.parametrize(
    "arguments", [(), ("beef", "--older-than", "3"), ("--older-than", "0")], ids=str
)
def test_forget_needs_one_round_or_an_age(home: Home, arguments: tuple[str, ...]) -> None:
    assert home.invoke("forget", *arguments).code == 2


async def test_serve_forgets_rounds_that_are_too_old(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round
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
