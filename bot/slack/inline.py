"""Inline Markdown as rich text leaves: styles, and links that show where they lead."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from markdown_it.common.normalize_url import normalizeLink
from markdown_it.token import Token

from bot.render.untrusted import shown_text
from bot.slack.limits import URL
from bot.slack.plain import inert, inert_url
from bot.slack.rich import Block, Leaves, link, shown, text

_STYLES = {"strong": "bold", "em": "italic", "s": "strike"}
_BARE = re.compile(r"https?://[^\s<>\"`|\\^{}\[\]]+", re.IGNORECASE)
_OUT = re.compile(r"https?://[^/\s]", re.IGNORECASE)


@dataclass(slots=True)
class _Run:
    """What an inline text has come to."""

    leaves: Leaves = field(default_factory=list)
    styles: list[str] = field(default_factory=list)
    links: list[tuple[int, Token]] = field(default_factory=list)  # where each label began

    def write(self, words: str, *styles: str) -> None:
        """Add text in the styles that are open."""
        if words:
            self.leaves.append(text(words, *dict.fromkeys([*self.styles, *styles])))

    def write_linked(self, words: str) -> None:
        """Add text, in which addresses can be pressed unless it is a link's label."""
        at = 0
        for found in () if self.links else _BARE.finditer(words):
            url = _trimmed(found[0])
            self.write(inert(words[at : found.start()]))
            self.leaves.append(address(url))
            at = found.start() + len(url)
        self.write(inert(words[at:]))

    def close_link(self) -> None:
        """Follow the label by the address, unless the label is the address."""
        began, opened = self.links.pop()
        href = str(opened.attrs.get("href", ""))
        label = "".join(map(shown, self.leaves[began:]))
        if label in {"", href, inert(href)} or f"mailto:{label}" == href:
            self.leaves[began:] = [address(href)] if _OUT.match(href) else [text(label or " ")]
            return
        self.write(" (")
        self.leaves.append(address(href))
        title = str(opened.attrs.get("title", ""))
        self.write(inert(f", {title})") if title else ")")


def leaves_of(tokens: Iterable[Token]) -> Leaves:
    """Give the leaves of inline tokens; raw HTML and foreign markup are text among them."""
    run = _Run()
    for token in tokens:
        _add(run, token)
    return run.leaves


def address(url: str) -> Block:
    """Give a web address to press; any other is text."""
    if not _OUT.match(url) or len(url) > URL:
        return text(inert(url))
    return link(inert_url(shown_text(normalizeLink(url))))


def _add(run: _Run, token: Token) -> None:
    match token.type:
        case "link_open":
            run.links.append((len(run.leaves), token))
        case "link_close":
            run.close_link()
        case "image":
            _add_image(run, token)
        case "code_inline":
            run.write(inert(token.content), "code")
        case "softbreak" | "hardbreak":
            run.write("\n")
        case kind if kind.endswith("_open"):
            run.styles.append(_STYLES.get(kind.removesuffix("_open"), "bold"))
        case kind if kind.endswith("_close"):
            run.styles.pop()
        case _:
            run.write_linked(token.content)


def _add_image(run: _Run, token: Token) -> None:
    """Show an image as a link: loading it would tell its server who reads."""
    href = str(token.attrs.get("src", ""))
    opened = Token("link_open", "a", 1, attrs={"href": href, "title": token.attrs.get("title", "")})
    run.links.append((len(run.leaves), opened))
    run.write(inert(token.content))
    run.close_link()


def _trimmed(url: str) -> str:
    """Give an address without the sentence's own signs at its end."""
    url = url.rstrip(".,;:!?'*_~")
    return url.rstrip(").,;:!?'*_~") if "(" not in url else url
