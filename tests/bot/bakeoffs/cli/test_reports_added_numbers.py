"""A program that stores one number more reads everything that was stored before."""

import shutil
from pathlib import Path

import pytest

from tests.bot.homes import Home
from tests.compatibility.product import command_runner

SOURCE = Path(__file__).parents[4]
NUMBERS = {
    "council/bakeoffs/records.py": (
        ("    share: float | None = None\n", "    sparkle: int | None = 1\n"),
        ("    valid: bool = False\n", "    sparkle: int = 1\n"),
        ("    winner: str | None = None\n", "    sparkle: int = 1\n"),
    ),
    "council/bakeoffs/bias/votes.py": (('"lists", "headings", "bold", "code")', '"sparkle", '),),
}
SHOWN = (("leaderboard",), ("leaderboard", "--as", "judge"), ("bias", "--rounds"))


@pytest.fixture
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the program that stores one number more in each table, before the others."""
    copy = tmp_path_factory.mktemp("program")
    for package in ("bot", "storage", "council"):
        shutil.copytree(SOURCE / package, copy / package)
    shutil.copy2(SOURCE / "council_entry_point.py", copy)
    for name, additions in NUMBERS.items():
        text = (copy / name).read_text(encoding="utf-8")
        for before, added in additions:
            assert before in text
            text = text.replace(before, added + before, 1)
        (copy / name).write_text(text, encoding="utf-8")
    return copy


def computed_again(program: Path) -> None:
    """Make the copy compute the numbers of earlier versions again."""
    for name in NUMBERS:
        text = (program / name).read_text(encoding="utf-8")
        for constant in ("VERSION", "COMPUTED_SINCE"):
            text = text.replace(f"\n{constant} = ", f"\n{constant} = 7  # ", 1)
        (program / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("is_recomputed", [False, True])
def test_every_board_keeps_every_forgotten_round_after_a_number_was_added(
    stored_round: tuple[Home, str], grown: Path, *, is_recomputed: bool
) -> None:
    home, forgotten = stored_round
    home.invoke("forget", forgotten, "--yes")
    home.invoke("ask", "And how?")
    before = [home.invoke(*shown, "--json").json for shown in SHOWN]
    if is_recomputed:
        computed_again(grown)

    with command_runner(program=grown) as runner:
        after = [runner.run(home.folder, home.environment, *shown, "--json") for shown in SHOWN]
        verified = runner.run(home.folder, home.environment, "verify", "--all")

    board, judges, bias = (result.json for result in after)
    assert [board, judges] == before[:2]
    assert bias["rounds"] == before[2]["rounds"] == 2
    assert verified.code == 0, verified.out
    assert "match the 2 rounds that they count" in verified.out
    # The remembered round has the new numbers, if it was to be computed again.
    named = home.sql("SELECT shape FROM source WHERE shape LIKE '%sparkle%'")
    assert bool(named) == is_recomputed
