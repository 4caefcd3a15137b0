"""`verify --all` recomputes the numbers that leaderboards and bias reports show."""

import json
import struct

import pytest

from tests.bot.homes import Home

MATCH = "Leaderboards and bias reports match the 1 round that they count."


@pytest.fixture
def counted(stored_round: tuple[Home, str]) -> tuple[Home, str]:
    """Return a stored round whose record and votes are stored too."""
    home, round_id = stored_round
    assert home.invoke("leaderboard").code == 0
    assert home.invoke("bias", "--rounds").code == 0
    return home, round_id


def first_byte_changed(home: Home, table: str) -> bytes:
    ((numbers,),) = home.sql(f"SELECT numbers FROM {table}")  # noqa: S608 - ours
    return bytes([numbers[0] ^ 1]) + bytes(numbers[1:])


def share_of_the_first(numbers: bytes, share: float) -> bytes:
    return struct.pack("<f", share) + numbers[4:]


def test_unchanged_numbers_match_also_once_the_texts_are_forgotten(
    counted: tuple[Home, str],
) -> None:
    home, round_id = counted
    assert MATCH in home.invoke("verify", "--all").out
    home.invoke("forget", round_id, "--yes")
    result = home.invoke("verify", "--all")

    assert (result.code, MATCH in result.out) == (0, True)


@pytest.mark.parametrize("is_forgotten", [False, True])
def test_an_edited_leaderboard_is_named_with_its_round_and_number(
    counted: tuple[Home, str], is_forgotten: bool
) -> None:
    home, round_id = counted
    if is_forgotten:
        home.invoke("forget", round_id, "--yes")
    ((numbers,),) = home.sql("SELECT numbers FROM record")
    home.sql("UPDATE record SET numbers = ?", share_of_the_first(numbers, 0.123))

    result = home.invoke("verify", "--all")

    assert result.code == 1
    assert f"Round {round_id} differs on leaderboards in members[north].share: " in result.out
    assert MATCH not in result.out


@pytest.mark.parametrize("is_forgotten", [False, True])
def test_an_edited_ranking_in_bias_reports_is_named(
    counted: tuple[Home, str], is_forgotten: bool
) -> None:
    home, round_id = counted
    if is_forgotten:
        home.invoke("forget", round_id, "--yes")
    home.sql("UPDATE votes SET numbers = ?", first_byte_changed(home, "votes"))

    result = home.invoke("verify", "--all")

    assert result.code == 1
    assert f"Round {round_id} differs in bias reports in votes[north, north]" in result.out


def test_swapped_names_and_another_panel_are_named(counted: tuple[Home, str]) -> None:
    home, _ = counted
    ids = "SELECT source_id FROM record"
    ((source, shape),) = home.sql(f"SELECT id, shape FROM source WHERE id IN ({ids})")  # noqa: S608
    members, *rest = json.loads(shape)
    swapped = json.dumps([members[::-1], *rest])
    home.sql("UPDATE source SET shape = ?, panel = 'other' WHERE id = ?", swapped, source)

    result = home.invoke("verify", "--all")

    assert result.code == 1
    assert "differs on leaderboards in panel: stored other, recomputed" in result.out


def test_numbers_that_cannot_be_read_or_have_no_finished_round_are_named(
    counted: tuple[Home, str],
) -> None:
    home, round_id = counted
    home.sql("UPDATE record SET numbers = x'00'")
    home.sql("UPDATE votes SET round_id = 'invented'")

    result = home.invoke("verify", "--all")

    assert result.code == 1
    assert f"Round {round_id} differs on leaderboards in numbers: stored unreadable" in result.out
    assert "Bias reports count round invented, which can't be read" in result.out


def test_a_round_that_was_reopened_is_named(counted: tuple[Home, str]) -> None:
    home, round_id = counted
    home.sql("UPDATE round SET seconds = NULL")

    result = home.invoke("verify", "--all")

    assert result.code == 1
    assert f"Round {round_id} is counted on leaderboards, but is not finished" in result.out
