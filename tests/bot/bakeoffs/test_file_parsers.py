"""Files beside a file are read inside its folder only, each once, within the limit of a suite."""

import os
from pathlib import Path

import pytest

from bot.bakeoffs.file_parsers import MAX_BYTES, NearbyFiles
from bot.bakeoffs.suite_files import ReadingOptions, SuiteFile, parse_suite_file, read_suite_file
from council.errors import SuiteError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a file, and with links into it and out of it."""
    folder = tmp_path / "suites"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "suites-2").mkdir()
    (tmp_path / "suites-2" / "a.txt").write_text("secret")
    (folder / "a.txt").write_text("Why?\r\n")
    (folder / "inside.txt").symlink_to("a.txt")
    (folder / "outside.txt").symlink_to("../secret.txt")
    (folder / "up").symlink_to("..")
    (folder / "loop.txt").symlink_to("loop.txt")
    os.mkfifo(folder / "pipe.txt")
    (folder / "latin.txt").write_bytes("é".encode("latin-1"))
    (folder / "lfs.txt").write_text("version https://git-lfs.github.com/spec/v1\n")
    (folder / "big.txt").write_text("x" * (MAX_BYTES + 1))
    return folder


@pytest.mark.parametrize("name", ["a.txt", "./a.txt", "inside.txt", "../suites/a.txt"])
def test_a_file_in_the_folder_is_read(folder: Path, name: str) -> None:
    assert NearbyFiles(folder).read(name) == "Why?\n"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../../etc/passwd", "there is no such file|not in the folder"),
        ("/etc/passwd", "not in the folder"),
        ("../secret.txt", "not in the folder"),
        ("../suites-2/a.txt", "not in the folder"),
        ("outside.txt", "not in the folder"),
        ("up/secret.txt", "not in the folder"),
        ("loop.txt", "there is no such file"),
        ("gone.txt", "there is no such file"),
        ("a.txt\0", "there is no such file"),
        ("pipe.txt", "it is no file"),
        ("latin.txt", "latin.txt is not UTF-8"),
        ("lfs.txt", "lfs.txt is a Git LFS pointer"),
        ("big.txt", "more than 2,000,000 bytes"),
    ],
)
def test_a_file_that_must_not_or_cannot_be_read_is_refused(
    folder: Path, name: str, why: str
) -> None:
    with pytest.raises(SuiteError, match=why):
        NearbyFiles(folder).read(name)


def test_a_file_that_changes_meanwhile_is_read_once(folder: Path) -> None:
    files = NearbyFiles(folder)
    before = files.read("a.txt")
    (folder / "a.txt").write_text("How?")

    assert files.read("inside.txt") == before


def test_all_files_beside_one_are_counted(folder: Path) -> None:
    for number in range(3):
        (folder / f"{number}.txt").write_text("x" * (MAX_BYTES // 2))
    files = NearbyFiles(folder)
    files.read("0.txt")
    files.read("1.txt")

    with pytest.raises(SuiteError, match="more than 2,000,000 bytes"):
        files.read("2.txt")


def read_config(folder: Path | None, text: str) -> SuiteFile:
    return read_suite_file("s", "s.yaml", text.encode(), ReadingOptions(folder=folder))


def test_a_refused_file_is_named_with_its_line(folder: Path) -> None:
    text = "prompts: ['Six?']\ntests:\n- file://../secret.txt\n- vars: {a: 1}\n"

    [left_out] = read_config(folder, text).left_out

    assert (left_out.where, left_out.name) == ("Line 3", "test file://../secret.txt")
    assert "not in the folder" in left_out.why


def test_a_check_in_a_file_has_the_line_of_that_file(folder: Path) -> None:
    (folder / "t.yaml").write_text("- vars: {a: 1}\n  assert:\n  - type: latency\n")

    [left_out] = read_config(folder, "prompts: ['Six?']\ntests: file://t.yaml\n").left_out

    assert (left_out.where, left_out.name) == ("Line 3 of t.yaml", "assert latency")


def test_a_file_sent_alone_has_no_others_beside_it() -> None:
    text = "prompts: [file://a.txt, 'Six?']\n"

    [left_out] = read_config(None, text).left_out

    assert "copy its text into this one" in left_out.why


@pytest.mark.parametrize(
    "text",
    [
        "prompts: [Six?]\nscenarios:\n- config:\n"
        + "  - {vars: {a: 1}}\n" * 300
        + "  tests:\n"
        + "  - {threshold: 1}\n" * 300,
        "prompts:\n" + "- file://many.txt\n" * 30,
        "prompts: [Six?]\ntests:\n" + "- file://many.jsonl\n" * 30,
    ],
    ids=["scenarios", "prompts", "tests"],
)
@pytest.mark.timeout(20)
def test_files_cannot_multiply(folder: Path, text: str) -> None:
    (folder / "many.txt").write_text("Six?\n---\n" * 1_000)
    (folder / "many.jsonl").write_text('{"vars": {"a": 1}}\n' * 1_000)

    with pytest.raises(SuiteError, match="the limit for a suite is 10,000"):
        read_config(folder, text)


def test_a_configuration_that_is_whole_is_a_suite_of_council_toml(folder: Path) -> None:
    text = b"providers: [x]\nprompts: file://a.txt\n"

    suite = parse_suite_file("s", "s.yaml", text, ReadingOptions(folder=folder))

    assert [question.text for question in suite.questions] == ["Why?"]
