"""Inline Markdown as leaves: words in their styles, and addresses that show where they lead."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from markdown_it.token import Token

_STYLES = {"strong": "bold", "em": "italic", "s": "strike"}
_BARE = re.compile(r"https?://[^\s<>\"`|\\^{}\[\]]+", re.IGNORECASE)
_OUT = re.compile(r"https?://[^/\s]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Leaf:
    """Untrusted words in styles: bold, italic, strike, code. An address may be one to press."""

    text: str
    styles: tuple[str, ...] = ()
    is_address: bool = False

    @property
    def leads_out(self) -> bool:
        """Say whether it is an address on the web; no other is ever pressed."""
        return self.is_address and bool(_OUT.match(self.text))


Leaves = Sequence[Leaf]


def leaves_of(tokens: Iterable[Token]) -> list[Leaf]:
    """Give the leaves of inline tokens; raw HTML and foreign markup are text among them."""
    run = _Run()
    for token in tokens:
        _add(run, token)
    return run.leaves


def plain_leaves(words: str) -> list[Leaf]:
    """Give the leaves of words that are no Markdown: addresses, and the text between them."""
    run = _Run()
    run.write_linked(words)
    return run.leaves


def bold(leaves: Iterable[Leaf]) -> list[Leaf]:
    """Give the leaves with their words in bold."""
    return [
        leaf
        if leaf.is_address
        else replace(leaf, styles=tuple({**dict.fromkeys(leaf.styles), "bold": None}))
        for leaf in leaves
    ]


def words_of(leaves: Iterable[Leaf]) -> str:
    """Give what the leaves say in one line."""
    return " ".join("".join(leaf.text for leaf in leaves).split())


@dataclass(slots=True)
class _Run:
    """What an inline text has come to."""

    leaves: list[Leaf] = field(default_factory=list)
    styles: list[str] = field(default_factory=list)
    links: list[tuple[int, Token]] = field(default_factory=list)  # where each label began

    def write(self, words: str, *styles: str) -> None:
        """Add text in the styles that are open."""
        if words:
            self.leaves.append(Leaf(words, tuple(dict.fromkeys([*self.styles, *styles]))))

    def write_linked(self, words: str) -> None:
        """Add text, in which addresses can be pressed unless it is a link's label."""
        at = 0
        for found in () if self.links else _BARE.finditer(words):
            url = _trimmed(found[0])
            self.write(words[at : found.start()])
            self.leaves.append(Leaf(url, is_address=True))
            at = found.start() + len(url)
        self.write(words[at:])

    def close_link(self) -> None:
        """Follow the label by the address, unless the label is the address."""
        began, opened = self.links.pop()
        href = str(opened.attrs.get("href", ""))
        address = Leaf(href, is_address=True)
        label = "".join(leaf.text for leaf in self.leaves[began:])
        if label in {"", href} or f"mailto:{label}" == href:
            self.leaves[began:] = [address] if address.leads_out else [Leaf(label or " ")]
            return
        self.write(" (")
        self.leaves.append(address)
        title = str(opened.attrs.get("title", ""))
        self.write(f", {title})" if title else ")")


def _add(run: _Run, token: Token) -> None:
    match token.type:
        case "link_open":
            run.links.append((len(run.leaves), token))
        case "link_close":
            run.close_link()
        case "image":
            _add_image(run, token)
        case "code_inline":
            run.write(token.content, "code")
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
    run.write(token.content)
    run.close_link()


def _trimmed(url: str) -> str:
    """Give an address without the sentence's own signs at its end."""
    url = url.rstrip(".,;:!?'*_~")
    return url.rstrip(").,;:!?'*_~") if "(" not in url else url
