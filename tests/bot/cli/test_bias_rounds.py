"""`council bias --rounds`: printed, as JSON, as a picture, and what is refused."""

import json
from pathlib import Path

import pytest

from bot.cli.bias import print_bias
from tests.bot.cli.test_main_imports import loaded_by
from tests.bot.homes import Home
from tests.bot.render.bias.builders import a_bias


def test_without_rounds_there_is_a_sentence_and_no_failure(home: Home) -> None:
    plain, as_json = home.invoke("bias", "--rounds"), home.invoke("bias", "--rounds", "--json")

    assert (plain.code, as_json.code) == (0, 0)
    assert "No round has been held yet" in " ".join(plain.out.split())
    assert (as_json.json["rounds"], as_json.json["judges"]) == (0, [])


def test_a_panel_or_suite_that_has_no_rounds_is_said(home: Home) -> None:
    ran = home.invoke("bias", "--rounds", "--panel", "other", "--suite", "sql", "--since", "30d")

    assert ran.code == 0
    assert "No round fits" in " ".join(ran.out.split())


def test_a_picture_is_written_even_of_nothing(home: Home) -> None:
    picture = home.folder / "bias.png"

    ran = home.invoke("bias", "--rounds", "--png", str(picture))

    assert ran.code == 0
    assert "Written to" in ran.out
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        pytest.param(("--rounds", "--since", "soon"), "is no time I can read", id="since"),
        pytest.param(("--rounds", "--suite", "sql@3f"), "without a version", id="version"),
    ],
)
def test_what_cannot_be_read_is_bad_usage(home: Home, options: tuple[str, ...], said: str) -> None:
    ran = home.invoke("bias", *options)

    assert ran.code == 2
    assert said in ran.err


def test_a_file_that_cannot_be_written_fails_with_a_sentence(home: Home) -> None:
    ran = home.invoke("bias", "--rounds", "--png", str(home.folder / "no" / "such" / "bias.png"))

    assert ran.code == 1
    assert "cannot be written" in ran.err


def test_a_report_is_printed_findings_first(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    print_bias(a_bias(), as_json=False, to_png=tmp_path / "bias.png")

    said = " ".join(capsys.readouterr().out.split())
    assert said.index("ranks its own answer .31 higher") < said.index("Qwen 3 as a judge")
    assert "audit_share = 0" in said
    assert (tmp_path / "bias.png").read_bytes().startswith(b"\x89PNG")


def test_the_document_is_all_that_is_printed_with_json(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    print_bias(a_bias(), as_json=True, to_png=tmp_path / "bias.png")

    assert json.loads(capsys.readouterr().out)["rounds"] == 64


def test_nothing_slow_is_imported_for_a_table(home: Home) -> None:
    loaded = loaded_by(home, "bias", "--rounds", "--json")

    assert not loaded & {"litellm", "openai", "matplotlib"}
