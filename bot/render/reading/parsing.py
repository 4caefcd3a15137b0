"""Markdown as tokens; raw HTML, references and what is nested beyond reason are text among them."""

from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.render.untrusted import shown_text

_NESTING = 40  # the parser leaves out what is nested deeper
_BRACKETS = 2_000  # each may begin a link, and the parser looks for the end of every one
_LONGEST_LANGUAGE = 24


def _parser() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": _NESTING})
    # What a reference defines would be left out where the reference is on another page.
    return markdown.enable(["table", "strikethrough"]).disable("reference")


_MARKDOWN = _parser()


@dataclass(frozen=True, slots=True)
class Parsed:
    """Markdown read once: its tokens, and the text that their lines count."""

    tokens: Sequence[Token]
    source: str

    @property
    def tables(self) -> int:
        """Give how many tables stand outside of lists and quotes."""
        return sum(token.type == "table_open" and not token.level for token in self.tokens)

    def lines_of(self, token: Token) -> str:
        """Give a block as it was written."""
        first, last = token.map or (0, 0)
        return "\n".join(self.source.split("\n")[first:last]).strip("\n")


@dataclass(frozen=True, slots=True)
class Code:
    """A block of code, and the language that it names."""

    text: str
    language: str = ""


def parsed(source: str) -> Parsed:
    """Read Markdown; what is nested or linked beyond reason is plain paragraphs."""
    source = shown_text(source)
    if source.count("[") > _BRACKETS:
        return Parsed(_plain_paragraphs(source), source)
    tokens = _MARKDOWN.parse(source)
    if any(token.level >= _NESTING - 1 for token in tokens):
        return Parsed(_plain_paragraphs(source), source)
    return Parsed(tokens, source)


def code_of(token: Token) -> Code:
    """Give a block of code; words after the fence that are no language's name come first in it."""
    code = token.content.removesuffix("\n")
    info = token.info.strip()
    if len(info) > _LONGEST_LANGUAGE or len(info.split()) > 1:
        return Code(f"{info}\n{code}")
    return Code(code, info)


def _plain_paragraphs(source: str) -> list[Token]:
    texts = [Token("text", "", 0, content=words.strip()) for words in source.split("\n\n")]
    return [Token("inline", "", 0, children=[words]) for words in texts]
