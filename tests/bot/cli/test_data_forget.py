"""`council forget`: the texts are gone from every file, the counts stay."""

import json

import pytest

from tests.bot.homes import Home, scripted_config

QUESTION = "Which queue should we use?"  # of the stored round
LONG_AGO = "UPDATE round SET asked_at = '2001-01-01 00:00:00.000000'"


def test_no_byte_of_the_texts_is_left(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round
    texts = [row[0] for row in home.sql("SELECT text FROM answer UNION SELECT text FROM synthesis")]
    assert QUESTION.encode() in home.stored_bytes()

    result = home.invoke("forget", "--yes", round_id)

    assert (result.code, result.err) == (0, "")
    assert "texts deleted" in result.out
    left = home.stored_bytes()
    assert [text for text in (QUESTION, *texts) if text.encode() in left] == []


def test_the_counts_stay(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round
    before = home.invoke("show", round_id, "--json").json
    home.invoke("forget", "--yes", round_id)

    after = home.invoke("show", round_id, "--json").json

    kept = ("seed", "panel", "standings", "verdict", "cost_usd", "tokens_in", "seconds", "stage")
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    assert [b["ranking"] for b in after["ballots"]] == [b["ranking"] for b in before["ballots"]]
    assert (after["question"], before["forgotten"]) == ("", None)
    assert after["forgotten"]


def test_a_forgotten_round_verifies_and_is_neither_resumed_nor_forgotten_again(
    stored_round: tuple[Home, str],
) -> None:
    home, round_id = stored_round
    home.invoke("forget", "--yes", round_id)

    verified, resumed = home.invoke("verify", "--all"), home.invoke("ask", "--resume", round_id)
    again = home.invoke("forget", "--yes", round_id)

    assert verified.code == 0
    assert f"Round {round_id}: forgotten on 20" in verified.out
    assert "unchanged since it closed, link 1" in verified.out
    assert (resumed.code, resumed.out, "was forgotten on" in resumed.err) == (1, "", True)
    assert (again.code, "already forgotten" in again.out) == (0, True)


def test_a_forgotten_round_is_shown_and_listed(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round
    home.invoke("forget", "--yes", round_id)

    shown, listed = home.invoke("show", round_id, "--full"), home.invoke("rounds")

    assert "were forgotten on" in " ".join(shown.out.split())
    assert " > " in shown.out
    assert "(forgotten)  " in listed.out
    assert "  forgotten  " in listed.out


@pytest.mark.parametrize("is_forgotten", [False, True])
def test_a_text_can_be_proven(stored_round: tuple[Home, str], is_forgotten: bool) -> None:
    home, round_id = stored_round
    mine, other = home.folder / "mine.txt", home.folder / "other.txt"
    mine.write_text(QUESTION + "\n", encoding="utf-8")
    other.write_text("Another?", encoding="utf-8")
    if is_forgotten:
        home.invoke("forget", "--yes", round_id)

    (home.folder / "bytes").write_bytes(b"\xff\xfe\xff")

    proven = home.invoke("verify", round_id, "--text", str(mine))
    refuted = home.invoke("verify", round_id, "--text", str(other))
    unreadable = home.invoke("verify", round_id, "--text", str(home.folder / "bytes"))

    assert proven.code == 0
    assert "mine.txt is its question" in proven.out
    assert (refuted.code, "is none of its texts" in refuted.out) == (1, True)
    assert (unreadable.code, "is not UTF-8 text" in unreadable.err) == (2, True)


def test_an_unfinished_round_is_forgotten_only_on_request(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round
    home.sql("UPDATE round SET seconds = NULL")

    refused = home.invoke("forget", "--yes", round_id)
    forgotten = home.invoke("forget", "--yes", round_id, "--unfinished")

    assert (refused.code, "Stop it first" in refused.err) == (1, True)
    assert forgotten.code == 0
    assert "were forgotten on" in " ".join(home.invoke("show", round_id).out.split())
    assert home.invoke("ask", "--resume", round_id).code == 1


def test_only_old_rounds_are_forgotten(stored_round: tuple[Home, str]) -> None:
    home, old = stored_round
    home.sql(LONG_AGO)
    new = home.invoke("ask", "And how?", "--json").json["id"]

    result = home.invoke("forget", "--yes", "--older-than", "90")

    assert (result.code, result.out) == (0, "1 round older than 90 days forgotten.\n")
    states = {line["id"]: "forgotten" in line for line in home.invoke("rounds", "--json").json}
    assert states == {old: True, new: False}
    assert QUESTION.encode() not in home.stored_bytes()


def test_an_old_unreadable_round_is_reported(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round
    home.sql(LONG_AGO)
    home.sql("UPDATE verdict SET strength = 'crushing'")

    result = home.invoke("forget", "--yes", "--older-than", "90")

    assert result.code == 1
    assert round_id in result.err
    assert result.out.startswith("0 rounds")


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
    assert "forgotten on" in (await home.invoke_in_thread("verify", round_id)).out


def test_without_a_terminal_it_must_be_told_yes(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round

    refused = home.invoke("forget", round_id)

    assert (refused.code, refused.out) == (2, "")
    assert "--yes" in refused.err
    assert QUESTION.encode() in home.stored_bytes()
