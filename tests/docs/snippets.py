"""The fenced blocks of the documents, as Markdown has them; also those in lists.

A block that cannot be checked has a comment with the reason in the line above:
`<!-- unchecked: needs a Slack workspace -->`. It then still needs its language.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")])
_UNCHECKED = re.compile(r"<!--\s*unchecked:\s*(\S.*?)\s*-->\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Snippet:
    """A block of a document; `line` is where it begins, `unchecked` why nobody checks it."""

    path: Path
    line: int
    language: str
    text: str
    unchecked: str = ""

    @property
    def where(self) -> str:
        """Its place in the repository, as editors open it."""
        return f"{self.path.relative_to(ROOT)}:{self.line}"

    @property
    def module(self) -> str:
        """A name for a module with its text."""
        return re.sub(r"\W", "_", self.where)


def read_snippets(path: Path) -> Iterator[Snippet]:
    """Yield the blocks of a document in their order."""
    why = ""
    for token in MarkdownIt().parse(path.read_text(encoding="utf-8")):
        if token.type == "html_block":
            comment = _UNCHECKED.fullmatch(token.content)
            why = comment[1] if comment else ""
            continue
        if token.type in {"fence", "code_block"}:
            line = token.map[0] + 1 if token.map else 0
            yield Snippet(path, line, (token.info.split() or [""])[0], token.content, why)
        why = ""


SNIPPETS = tuple(snippet for path in DOCUMENTS for snippet in read_snippets(path))


def checked(*languages: str) -> list[Snippet]:
    """Return the blocks in these languages that are to be checked."""
    return [one for one in SNIPPETS if one.language in languages and not one.unchecked]
