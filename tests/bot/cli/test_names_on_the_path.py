"""Names on the path: a user's own `bot.py` or `storage` does not stop the program."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.bot.homes import LETTERS, TIMEOUT_SECONDS, Home, scripted_config

PROGRAM = str(Path(sys.executable).with_name("council"))
STOP = "raise SystemExit('the file of the user was imported')\n"
NAMES = ("bot.py", "storage/__init__.py", "council.py", "rich.py", "typer/__init__.py")
RANK = """
import asyncio

from council import rank

texts = {"short": "Use Postgres.", "long": "Use Postgres until a queue hurts."}
ranked = asyncio.run(rank("Which queue?", texts, judges=["scripted/random"], seed="s"))
print(sorted(one.name for one in ranked.standings))
"""
RANK_ONLY = "from council import ask, rank"
ENTRIES = ("{folder}", "", ".", "/does/not/exist:{folder}")


def write_modules(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(STOP, encoding="utf-8")
    return folder


def run(words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> str:
    ran = subprocess.run(
        words,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture
def cluttered(home: Home) -> Home:
    """A home whose folder, in which the program starts and where PYTHONPATH points, has them all.

    The tables exist, so that no test waits for them.
    """
    write_modules(home.folder, *NAMES)
    home.with_config(scripted_config(3)).with_tables()
    return home.with_settings(PYTHONPATH=str(home.folder))


def test_no_file_of_a_user_goes_before_the_program_s_own(cluttered: Home) -> None:
    folder, environment = cluttered.folder, cluttered.environment

    assert run([PROGRAM, "--version"], folder, environment).startswith("council ")
    asked = json.loads(run([PROGRAM, "ask", "Why?", "--json"], folder, environment))
    assert [one["member"] for one in asked["answers"]] == [*LETTERS[:3]]
    listed = json.loads(run([PROGRAM, "rounds", "--json"], folder, environment))
    assert [one["id"] for one in listed] == [asked["id"]]


@pytest.mark.parametrize("entry", ENTRIES)
def test_it_does_not_matter_how_pythonpath_names_the_folder(cluttered: Home, entry: str) -> None:
    path = entry.format(folder=cluttered.folder)

    cluttered = cluttered.with_settings(PYTHONPATH=f"{path}:")

    version = run([PROGRAM, "--version"], cluttered.folder, cluttered.environment)
    assert version.startswith("council ")
    listed = run([PROGRAM, "rounds", "--json"], cluttered.folder, cluttered.environment)
    assert json.loads(listed) == []


def test_the_module_survives_a_folder_called_storage(home: Home) -> None:
    write_modules(home.folder, "storage/__init__.py", "council.py")

    listed = run([sys.executable, "-m", "bot", "rounds", "--json"], home.folder, home.environment)

    assert json.loads(listed) == []


def test_what_only_pythonpath_has_can_still_be_imported(cluttered: Home) -> None:
    plugins = cluttered.folder / "plugins"
    info = plugins / "their_plugin-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: their_plugin\nVersion: 1.0\n", encoding="utf-8")
    entry = "[council.plugins]\ntheirs = their_plugin:PLUGIN\n"
    (info / "entry_points.txt").write_text(entry, encoding="utf-8")
    source = 'from council.plugin import Plugin\nPLUGIN = Plugin(name="theirs")\n'
    (plugins / "their_plugin.py").write_text(source, encoding="utf-8")
    cluttered.with_config('[plugins]\nenabled = ["theirs"]\n')
    environment = {**cluttered.environment, "PYTHONPATH": f"{cluttered.folder}:{plugins}"}

    found = json.loads(run([PROGRAM, "plugins", "--json"], cluttered.folder, environment))

    assert [one["state"] for one in found if one["name"] == "theirs"] == ["loaded"]


@pytest.mark.parametrize("name", ["bot.py", "storage.py", "rank.py", "litellm_test.py"])
def test_a_script_ranks_with_files_of_these_names_around_it(home: Home, name: str) -> None:
    write_modules(home.folder, "bot.py", "storage/__init__.py")
    (home.folder / name).write_text(RANK, encoding="utf-8")
    environment = {**home.environment, "PYTHONPATH": str(home.folder)}

    ranked = run([sys.executable, name], home.folder, environment)

    assert ranked == "['long', 'short']\n"


def test_importing_the_library_imports_neither_the_bot_nor_its_storage(home: Home) -> None:
    program = f"import sys\n{RANK_ONLY}\nprint(sorted({{'bot', 'storage'}} & sys.modules.keys()))"

    assert run([sys.executable, "-c", program], home.folder, home.environment) == "[]\n"
