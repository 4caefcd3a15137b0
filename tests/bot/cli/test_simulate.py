"""`council simulate`: what a panel can tell, as tables and as JSON."""

import json
from math import isfinite

import pytest

from tests.bot.homes import Home

FEW = ("simulate", "--trials", "100", "--seed", "s")
FEWEST = (*FEW, "--members", "3", "--rounds", "10")


def test_a_simulation_is_told_in_tables(home: Home) -> None:
    ran = home.here(*FEW, "--bias", "strong")

    assert ran.code == 0
    assert "Every judge: position 2, own 1, noise 1.8. Makers: A A B C D." in ran.out
    assert "fixed order, own answer in" in ran.out
    assert "Leaderboards of 100 rounds" in ran.out


def test_a_simulation_is_one_json_document_without_a_nan(home: Home) -> None:
    ran = home.here(*FEW, "--members", "3", "--makers", "XYZ", "--noise", "0", "--json")

    def refuse(name: str) -> None:
        pytest.fail(name)

    found = json.loads(ran.out, parse_constant=refuse)
    assert (ran.code, found["members"], found["makers"]) == (0, 3, ["X", "Y", "Z"])
    assert found["biases"]["noise"] == 0
    assert [way["name"] for way in found["ways"]] == ["blind ranking", "fixed order, own answer in"]
    assert found["ways"][0]["clear_right"] is None
    assert found["boards"][0]["told"] is None
    assert isfinite(found["boards"][-1]["told"])


def test_sizes_change_what_a_preset_says(home: Home) -> None:
    found = home.here(*FEWEST, "--bias", "strong", "--position", "-1", "--json").json

    assert (found["biases"]["position"], found["biases"]["own"]) == (-1, 1)


def test_the_same_seed_gives_the_same(home: Home) -> None:
    first, again = home.here(*FEWEST, "--json"), home.here(*FEWEST, "--json")

    assert first.json == again.json


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param(("--own", "nan"), "--own is a number from −100 to 100.", id="nan"),
        pytest.param(("--length", "1e9"), "--length is a number", id="far-too-large"),
        pytest.param(("--noise", "-1"), "--noise is a standard deviation", id="negative-noise"),
        pytest.param(("--bias", "mild"), "--bias is none or strong, not 'mild'.", id="no-preset"),
        pytest.param(("--makers", "AB"), "A simulated panel has 3 to 10 members.", id="makers"),
    ],
)
def test_sizes_that_make_no_sense_are_refused(
    home: Home, given: tuple[str, ...], said: str
) -> None:
    ran = home.here(*FEW, *given)

    assert ran.code == 2
    assert said in ran.err
