"""The documents match the product, and their links lead somewhere."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli.main import app
from tests.docs import package_graph
from tests.docs.cli_reference import PATH, reference

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("deploy/*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
NAMED_FILE = re.compile(r"`((?:bot|council|storage|tests|docs|deploy)/[\w./-]+)`")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
MAX_DECISIONS = 30
MAX_WORDS = 20_000
GENERATED = {"cli.md", "clients.md", "report.md"}


def prose(path: Path) -> str:
    """Return the text of a document without its blocks of code."""
    return FENCE.sub("", path.read_text(encoding="utf-8"))


def has_letter(word: str) -> bool:
    return any(map(str.isalpha, word))


def anchors(path: Path) -> Iterator[str]:
    """Yield the anchors of a document's headings, as the usual hosts make them."""
    for heading in HEADING.findall(prose(path)):
        kept = re.sub(r"[^\w\- ]", "", heading.lower())
        yield kept.replace(" ", "-")


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_the_command_reference_is_up_to_date() -> None:
    assert PATH.read_text(encoding="utf-8") == reference(), "run `make docs`"


@pytest.mark.parametrize("command", ["rank", "bakeoff run", "lab study run"])
def test_the_command_reference_has_every_option_that_help_prints(command: str) -> None:
    printed = CliRunner().invoke(app, [*command.split(), "--help"], prog_name="council").stdout
    section = reference().partition(f"\n### council {command}\n")[2].partition("\n### ")[0]

    options = set(re.findall(r"^ +(--[\w-]+)", printed, re.MULTILINE)) - {"--help"}
    assert options
    assert options == set(re.findall(r"`(--[\w-]+)", section))


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_links_lead_somewhere(document: Path) -> None:
    broken = []
    for link in LINK.findall(prose(document)):
        target, _, anchor = link.partition("#")
        if target.startswith(("https://", "http://", "mailto:")):
            continue
        path = (document.parent / target).resolve() if target else document
        if not path.exists() or (anchor and anchor not in anchors(path)):
            broken.append(link)

    assert not broken


def test_what_is_written_by_hand_has_at_most_twenty_thousand_words() -> None:
    pages = [path for path in DOCUMENTS if path.parent.name != "deploy"]
    written = [path for path in pages if path.name not in GENERATED]
    words = sum(has_letter(word) for path in written for word in prose(path).split())

    assert words <= MAX_WORDS


def test_every_picture_is_shown() -> None:
    shown = {link for path in DOCUMENTS for link in LINK.findall(prose(path))}
    shown = {Path(link).name for link in shown if link.endswith(".png")}

    assert {path.name for path in ROOT.glob("docs/pictures/*")} == shown


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_files_that_are_named_exist(document: Path) -> None:
    missing = [name for name in NAMED_FILE.findall(prose(document)) if not (ROOT / name).exists()]

    assert not missing


def test_there_are_at_most_thirty_decisions() -> None:
    text = (ROOT / "docs/research/decisions.md").read_text(encoding="utf-8")

    assert len(re.findall(r"^### ", text, re.MULTILINE)) <= MAX_DECISIONS


def test_the_graph_of_packages_is_up_to_date() -> None:
    assert package_graph.PATH.read_text(encoding="utf-8") == package_graph.document()
