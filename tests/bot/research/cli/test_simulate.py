"""`council simulate`: its options, and its result as tables and as JSON."""

import io
import json
from math import inf, nan

import pytest
import typer
from rich.console import Console

from bot.research.cli.simulate import simulated_panel
from bot.research.simulation_report import simulation_document, simulation_post
from bot.terminal import render_post
from council.research.power import BoardOutcome, DesignOutcome, Simulation, SimulationSettings
from council.research.simulated_judges import Biases
from tests.bot.homes import Home

DESIGN = DesignOutcome("blind ranking", 0.6, (0.55, 0.65), 0.7, 0.0, None, 0.01)


def a_simulation() -> Simulation:
    """Return a simulation of five members with strong biases, whose numbers are made up."""
    panel = simulated_panel("strong", {}, "AABCD")
    boards = (BoardOutcome(0.0, 0.02, 0.01, None), BoardOutcome(0.5, 0.9, 0.0, 40))
    return Simulation(SimulationSettings(panel, 100, 50, "s"), (DESIGN,), boards)


def test_a_simulation_is_printed_as_tables() -> None:
    console = Console(file=io.StringIO(), width=100, highlight=False)

    console.print(render_post(simulation_post(a_simulation())))

    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "position 2, own 1, noise 1.8. Makers: A A B C D." in text
    assert DESIGN.name in text
    assert "Leaderboards of 50 rounds" in text


def test_what_is_unknown_is_null_in_the_document() -> None:
    document = simulation_document(a_simulation())

    assert document["ways"][0]["clear_right"] is None
    assert document["boards"][0]["told"] is None
    assert document["boards"][0]["wrong"] == pytest.approx(0.03)
    assert document["boards"][1]["told"] == pytest.approx(0.9)


def test_the_command_runs_what_its_options_say_and_prints_no_nan(home: Home) -> None:
    size = ("--trials", "100", "--rounds", "10", "--makers", "XYZ", "--seed", "s")

    result = home.invoke("simulate", *size, "--noise", "0", "--json")

    def refuse(name: str) -> None:
        pytest.fail(name)

    found = json.loads(result.out, parse_constant=refuse)
    assert (result.code, found["members"], found["makers"]) == (0, 3, ["X", "Y", "Z"])
    assert (found["trials"], found["rounds"], found["seed"]) == (100, 10, "s")
    assert found["biases"]["noise"] == 0
    assert [design["name"] for design in found["ways"]] == [
        "blind ranking",
        "fixed order, own answer in",
    ]


def test_sizes_replace_those_of_a_preset() -> None:
    panel = simulated_panel("strong", {"position": -1.0, "own": None}, 3)

    assert panel.biases[0] == Biases(position=-1.0, own=1.0, noise=1.8)


@pytest.mark.parametrize(
    ("bias", "sizes", "named"),
    [
        pytest.param("none", {"own": nan}, "--own", id="nan"),
        pytest.param("none", {"length": inf}, "--length", id="infinite"),
        pytest.param("none", {"length": 1e9}, "--length", id="far-too-large"),
        pytest.param("none", {"noise": -1.0}, "--noise", id="negative-noise"),
        pytest.param("mild", {}, "'mild'", id="no-preset"),
    ],
)
def test_options_that_make_no_sense_are_bad_usage(
    bias: str,
    sizes: dict[str, float],
    named: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(typer.Exit) as exit_:
        simulated_panel(bias, sizes, 5)

    assert exit_.value.exit_code == 2
    assert named in capsys.readouterr().err


def test_a_panel_that_cannot_be_simulated_is_bad_usage(home: Home) -> None:
    result = home.invoke("simulate", "--makers", "AB")

    assert (result.code, result.out) == (2, "")
    assert "3 to 10 models" in result.err
