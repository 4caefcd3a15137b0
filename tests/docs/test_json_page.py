"""The JSON on its page has the keys that the program prints."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bot.render.round_json import round_document
from bot.web.api_errors import error_document
from council.analysis import Analysis, Dispute, Position, UniquePoint
from council.rounds import Stage
from council.tally import Strength
from tests.bot.homes import Home, scripted_config
from tests.bot.render.test_round_json import eventful

PAGE = (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8")
ROUND, BAKEOFF, ERROR = (
    json.loads(block) for block in re.findall(r"^```json\n(.*?)^```", PAGE, re.M | re.S)
)
# A round names what it used, and a board what it left out, by names that differ.
FREE = {"versions", "shares", "counted", "grades"}


def check_keys(shown: Any, printed: Any, path: str = "") -> None:  # noqa: ANN401 - any JSON
    """Assert that two documents have the same keys, wherever neither has an empty part."""
    if isinstance(shown, dict) and isinstance(printed, dict) and shown:
        assert shown.keys() == printed.keys(), path
        for name in shown.keys() - FREE:
            check_keys(shown[name], printed[name], f"{path}.{name}")
    elif isinstance(shown, list) and isinstance(printed, list) and shown and printed:
        check_keys(shown[0], printed[0], path)


async def test_the_round_on_the_page_has_the_keys_of_an_eventful_round() -> None:
    printed = round_document(await eventful())

    check_keys(ROUND, printed)
    for part in ("answers", "absences", "ballots", "spoiled", "standings"):
        assert ROUND[part]
        assert printed[part]


def test_the_map_on_the_page_has_the_fields_of_a_map() -> None:
    shown = ROUND["analysis"]

    assert list(shown) == [*Analysis.__dataclass_fields__]
    assert list(shown["disputed"][0]) == [*Dispute.__dataclass_fields__]
    assert list(shown["disputed"][0]["positions"][0]) == [*Position.__dataclass_fields__]
    assert list(shown["unique"][0]) == [*UniquePoint.__dataclass_fields__]


@pytest.mark.parametrize("kind", [Stage, Strength])
def test_every_value_of_an_enum_is_on_the_page(kind: type[Stage] | type[Strength]) -> None:
    assert all(f"`{value}`" in PAGE for value in kind)


def test_the_bakeoff_on_the_page_has_the_keys_of_a_bakeoff_and_of_a_leaderboard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sql.txt").write_text("Is Postgres enough?\n")
    home = Home(tmp_path).with_config(scripted_config(3)).with_tables()

    bakeoff = home.invoke("bakeoff", "run", "sql.txt", "--json").json
    board = home.invoke("leaderboard", "--json").json

    check_keys(BAKEOFF, bakeoff)
    names = [*BAKEOFF]
    of_board = names[names.index("ranked_by") : names.index("weighted") + 1]
    assert of_board == [*board]
    check_keys({name: BAKEOFF[name] for name in of_board}, board)


def test_the_error_on_the_page_has_the_shape_of_the_api() -> None:
    check_keys(ERROR, error_document(400, "…"))
