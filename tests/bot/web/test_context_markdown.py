"""Untrusted Markdown becomes HTML that can neither run nor load anything."""

import re
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.web.context import render_markdown
from tests.bot.web.browser.hostile import HOSTILE

TAGS = {
    "p",
    "h4",
    "h5",
    "h6",
    "strong",
    "em",
    "s",
    "code",
    "pre",
    "blockquote",
    "hr",
    "br",
    "ul",
    "ol",
    "li",
    "a",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
}
REL = "noopener noreferrer nofollow ugc"
TRICKS = [
    *HOSTILE,
    "<!-- comment --> <![CDATA[x]]> <?php x ?>",
    "[x](<java\nscript:alert(1)>)",
    '[x](https://example.org "\\"><script>")',
    "#" * 7 + " x",
    "> " * 500 + "<b>",
    "[" * 5000,
    "*" * 5000 + "a",
    "- " * 300 + "x",
    "\x00<b>\ufffe",
]
SHORT_TRICKS = [trick for trick in TRICKS if len(trick) < 100]


class ParsedHtml(HTMLParser):
    """The tags, attributes and comments that a browser sees."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.other: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_comment(self, data: str) -> None:
        self.other.append(data)

    def handle_decl(self, decl: str) -> None:
        self.other.append(decl)

    def handle_pi(self, data: str) -> None:
        self.other.append(data)


def parsed(text: str) -> ParsedHtml:
    parser = ParsedHtml()
    parser.feed(str(render_markdown(text)))
    parser.close()
    return parser


def is_harmless(text: str) -> bool:
    found = parsed(text)
    allowed = {("a", "rel"), ("a", "target"), ("a", "href"), ("ol", "start"), ("code", "class")}
    allowed |= {("th", "class"), ("td", "class"), ("table", "tabindex"), ("pre", "tabindex")}
    allowed |= {("code", "tabindex")}
    links = [value for tag, name, value in found.attributes if name == "href"]
    return (
        found.tags <= TAGS
        and found.other == []
        and {(tag, name) for tag, name, _ in found.attributes} <= allowed
        and not any(re.match(r"\W*(javascript|vbscript|data|file)\W*:", x, re.I) for x in links)
    )


@pytest.mark.parametrize("trick", TRICKS)
def test_no_trick_runs_or_loads_anything(trick: str) -> None:
    assert is_harmless(trick)
    assert is_harmless(f"Before.\n\n{trick}\n\nAfter.")


@given(
    st.lists(st.sampled_from([*SHORT_TRICKS, "\n", "\n\n", " ", "*", "`", "[", "](", ")", "> "]))
)
def test_no_combination_of_tricks_runs_or_loads_anything(tricks: list[str]) -> None:
    assert is_harmless("".join(tricks))


@given(st.text(max_size=80))
def test_no_text_breaks_the_page(text: str) -> None:
    assert is_harmless(text)


@pytest.mark.parametrize("text", ["<b>bold</b>", "a < b & c > d", "<script>x</script>"])
def test_html_is_shown_as_text(text: str) -> None:
    assert unescape(re.sub(r"</?p>", "", str(render_markdown(text)))).strip() == text


@pytest.mark.parametrize(
    ("text", "level"), [("# T", 4), ("## T", 5), ("### T", 6), ("###### T", 6), ("T\n===", 4)]
)
def test_headings_are_smaller_than_the_pages_own(text: str, level: int) -> None:
    assert str(render_markdown(text)) == f"<h{level}>T</h{level}>\n"


@pytest.mark.parametrize("link", ["[x](https://example.org/?a=1&b=2)", "<https://example.org/>"])
def test_links_open_on_click_without_a_referrer(link: str) -> None:
    html = str(render_markdown(link))

    assert f'rel="{REL}"' in html
    assert 'target="_blank"' in html
    assert 'href="https://example.org/' in html


def test_an_image_is_a_link_to_it() -> None:
    html = str(render_markdown("![A cat](https://example.org/cat.png)"))

    assert ("<img" in html, 'href="https://example.org/cat.png"' in html) == (False, True)


def test_columns_are_aligned_without_inline_styles() -> None:
    html = str(render_markdown("| a | b | c |\n|:--|--:|:-:|\n| 1 | 2 | 3 |"))

    assert re.findall(r"<t[hd].*?>\w", html) == [
        "<th>a",
        '<th class="n">b',
        "<th>c",
        "<td>1",
        '<td class="n">2',
        "<td>3",
    ]


def test_tables_lists_and_code_are_kept() -> None:
    html = str(
        render_markdown("| a | b |\n|---|--:|\n| 1 | 2 |\n\n1. x\n\n~~y~~ `z`\n\n```py\nq\n```")
    )

    assert {"table", "ol", "s", "code", "pre"} <= set(re.findall(r"<(\w+)", html))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("> " * 60 + "deep words", id="sixty quotes deep"),
        pytest.param("| a | b |\n|---|---|\n| 1 | 2 | deep words |\n", id="a cell too many"),
    ],
)
def test_text_that_the_parser_drops_is_shown_as_source(text: str) -> None:
    assert "deep words" in render_markdown(text)
