"""Untrusted Markdown becomes HTML that can neither run nor load anything."""

import re
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.web.markdown import render_markdown
from bot.web.mathml import render_formula
from tests.bot.web.browser.hostile import HOSTILE

MATHML = {
    "math",
    "mfrac",
    "mi",
    "mmultiscripts",
    "mn",
    "mo",
    "mover",
    "mpadded",
    "mphantom",
    "mprescripts",
    "mroot",
    "mrow",
    "ms",
    "mspace",
    "msqrt",
    "mstyle",
    "msub",
    "msubsup",
    "msup",
    "mtable",
    "mtd",
    "mtext",
    "mtr",
    "munder",
    "munderover",
    "none",
}
MATH_ATTRIBUTES = {
    "accent",
    "class",
    "columnalign",
    "display",
    "displaystyle",
    "fence",
    "form",
    "linethickness",
    "mathvariant",
    "maxsize",
    "minsize",
    "scriptlevel",
    "stretchy",
    "width",
}
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
    "div",
    "button",
    "span",
    *MATHML,
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
    r"\(\text{<script>alert(1)</script>}\)",
    r"\[\href{javascript:alert(1)}{x}\]",
    r"$\text{\" onload=\"x}$",
    r"$$\color{red;background:url(//evil.example)}{x}$$",
    r"\(\style{color:red}{x}\class{go}{y}\hspace{99999em}\)",
    "$" + "{" * 900 + "x" + "}" * 900 + "$",
    "\\(" * 3000,
    "```html\n<script>alert(1)</script>\n```",
    "```python\n'</code></pre><script>alert(1)</script>'\n```",
    '```"onclick=alert(1)\nx\n```',
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
    allowed |= {("code", "tabindex"), ("p", "class"), ("p", "tabindex"), ("span", "class")}
    allowed |= {
        ("div", "class"),
        *(("button", name) for name in ("type", "data-copy", "aria-label")),
    }
    allowed |= {(tag, name) for tag in MATHML for name in MATH_ATTRIBUTES}
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


@pytest.mark.parametrize(
    ("text", "mathml"),
    [
        (r"So \(p = .5\).", "<mi>p</mi><mo>=</mo><mi>.5</mi>"),
        (r"With $x^2$, it fits.", "<msup><mi>x</mi><mn>2</mn></msup>"),
        ("As follows:\n\\[\na\n- b\n\\]\nThat is all.", "<mi>a</mi><mo>−</mo><mi>b</mi>"),
        ("$$\\frac{1}{2}$$", "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac>"),
        ("- one\n\n  \\[\n  y\n  \\]\n- two", "<mi>y</mi>"),
        ("> $$\n> z\n> $$", "<mi>z</mi>"),
        (r"\(\boxed{42}\)", '<mrow class="boxed"><mrow><mn>42</mn></mrow></mrow>'),
        (r"\[\begin{aligned}a&=b\end{aligned}\]", '<mtd columnalign="right"><mi>a</mi></mtd>'),
    ],
)
def test_mathematics_is_typeset(text: str, mathml: str) -> None:
    html = str(render_markdown(text))

    assert mathml in html
    assert "\\" not in html
    assert "<code" not in html


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 now and $10 later.",
        "US$5 to US$7, $20K–$30K",
        "Set $PATH:$HOME, or $A/$B.",
        "Write \\\\(x\\\\) or `$x$`.",
        "kill $$",
        "\\[ has no end",
        r"\( \)",
    ],
)
def test_money_variables_and_marks_without_an_end_are_text(text: str) -> None:
    assert "<math" not in str(render_markdown(text))


@pytest.mark.parametrize(
    "tex",
    [
        r"\unknown{x}",
        "{",
        "x" * 2_001,
        "{" * 60 + "x" + "}" * 60,
        "{" * 900 + "x" + "}" * 900,
        r"\frac" * 300,
    ],
)
def test_a_formula_that_is_not_understood_is_shown_as_code(tex: str) -> None:
    assert render_formula(tex, display=False) is None
    if len(tex) < 2_000:
        assert "<code>" in str(render_markdown(f"\\({tex}\\)"))


def test_a_text_of_formulas_is_typeset_up_to_a_limit() -> None:
    html = str(render_markdown("$x$ " * 2_000))

    assert html.count("<math") == 1_000
    assert html.count("<code>x</code>") == 1_000


def test_code_is_highlighted_and_can_be_copied() -> None:
    html = str(render_markdown("```python\nif x < 1:\n    pass\n```"))

    assert '<span class="k">if</span>' in html
    assert "data-copy" in html
    assert unescape(re.sub(r"<[^>]*>", "", html)).strip() == "if x < 1:\n    pass\nCopy"


@pytest.mark.parametrize("text", ["```nothing\nif\n```", "```\nif\n```", "```js\n" + "x" * 60_001])
def test_code_of_an_unknown_language_or_too_long_is_plain(text: str) -> None:
    assert "<span" not in str(render_markdown(text))


def test_a_block_that_was_cut_off_ends_with_its_text() -> None:
    assert str(render_markdown("```python\nx = (")).rstrip().endswith("</div>")
