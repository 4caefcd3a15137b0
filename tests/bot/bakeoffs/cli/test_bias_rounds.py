"""`council bias --rounds`: printed, as JSON, as a picture, and what is refused."""

import json
from pathlib import Path

import pytest

from bot.bakeoffs.cli.reports import print_bias
from tests.bot.bakeoffs.render.bias.builders import a_bias
from tests.bot.homes import Home


def test_no_rounds_are_no_failure(home: Home) -> None:
    plain, as_json = home.invoke("bias", "--rounds"), home.invoke("bias", "--rounds", "--json")

    assert (plain.code, as_json.code) == (0, 0)
    assert "No rounds yet" in " ".join(plain.out.split())
    assert (as_json.json["rounds"], as_json.json["judges"]) == (0, [])
    filters = ("--panel", "other", "--suite", "sql", "--since", "30d")
    assert "No finished rounds" in " ".join(home.invoke("bias", "--rounds", *filters).out.split())


@pytest.mark.parametrize(
    "arguments", [(), ("--rounds",), ("rounds",), ("rounds", "--rounds"), ("--full",)], ids=str
)
def test_without_a_file_the_command_reports_over_stored_rounds(
    home: Home, arguments: tuple[str, ...]
) -> None:
    result = home.invoke("bias", *arguments)

    assert result.code == 0
    assert "No rounds yet. Ask a question" in " ".join(result.out.split())


def test_the_help_says_what_it_does_without_a_command(home: Home) -> None:
    lines = [" ".join(line.split()) for line in home.invoke("bias", "--help").out.splitlines()]

    assert "council bias over stored rounds; the same as --rounds" in lines


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param(("--rounds", "--since", "soon"), "I can't read", id="since"),
        pytest.param(("--rounds", "--suite", "sql@3f"), "without a version", id="version"),
    ],
)
def test_an_invalid_filter_is_bad_usage(home: Home, options: tuple[str, ...], message: str) -> None:
    result = home.invoke("bias", *options)

    assert result.code == 2
    assert message in result.err


def test_a_report_is_printed_findings_first(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    print_bias(a_bias(), as_json=False, to_png=tmp_path / "bias.png", full=True)

    text = " ".join(capsys.readouterr().out.split())
    assert text.index("places its own answer too high") < text.index("Own answer")
    assert "audit_share = 0" in text
    assert (tmp_path / "bias.png").read_bytes().startswith(b"\x89PNG")
    print_bias(a_bias(), as_json=True, to_png=tmp_path / "bias.png")
    assert json.loads(capsys.readouterr().out)["rounds"] == 64
