"""Markdown in Discord's: what it says stays said, where a link leads is what is shown."""

import pytest

from bot.discord.markdown import neutralize, render_markdown
from tests.bot.discord.markdown_reader import kinds, read, visible_text


def shown(text: str) -> str:
    return visible_text(read(neutralize(render_markdown(text))))


@pytest.mark.parametrize(
    ("text", "made"),
    [
        pytest.param("**a** *b* ~~c~~ `d`", "**a** _b_ ~~c~~ `d`", id="styles"),
        pytest.param("# a\nb", "### a\nb", id="large-heading"),
        pytest.param("#### a\nb", "**a**\nb", id="small-heading"),
        pytest.param("- a\n  - b\n- c", "- a\n  - b\n- c", id="nested"),
        pytest.param("3. a\n4. b", "3. a\n4. b", id="counted"),
        pytest.param("> a\n>\n> b", "> a\n> \n> b", id="quote"),
        pytest.param("> - a\n> - b", "> - a\n> - b", id="list-in-quote"),
        pytest.param("```py\nx\n", "```py\nx\n```", id="open-code"),
        pytest.param("a\n\n---\n\nb", "a\n\nb", id="rule"),
        pytest.param("3. a\n\n   ```\n   x\n   ```\n4. b", "3. a\n```\nx\n```\n4. b", id="on"),
    ],
)
def test_what_discord_has_too_is_its_own(text: str, made: str) -> None:
    assert render_markdown(text) == made


@pytest.mark.parametrize(
    "text",
    [
        "a*b", "snake_case_name", "__init__", "1 * 2 * 3", "||a||", "~~a", "<b>a</b>", ":smile:",
        "12:30:45", "-# a", "C#", "[a]", "[a](javascript:x)", "<@1>", "a_b_", "`", "2 > 1", "\\",
    ],
)  # fmt: skip
def test_escaped_markup_is_shown_as_text(text: str) -> None:
    source = text.replace("\\", "\\\\").replace("__init__", "\\_\\_init__")

    assert shown(source).replace("\u200b", "").strip() == text.strip()
    assert kinds(read(neutralize(render_markdown(source)))) <= {"text"}


@pytest.mark.parametrize("text", ["1\\. a", "\\- a", "\\> a", "\\# a", "\\-# a", "\\>>> a"])
def test_a_line_start_is_escaped(text: str) -> None:
    assert kinds(read(render_markdown(text))) == {"text"}
    assert shown(text) == text.replace("\\", "")


@pytest.mark.parametrize(
    ("text", "made"),
    [
        pytest.param("[a](https://b.example)", "a (<https://b.example>)", id="label"),
        pytest.param("<https://b.example>", "<https://b.example>", id="address"),
        pytest.param("see https://b.example.", "see <https://b.example>.", id="bare"),
        pytest.param("![a](https://b.example)", "a (<https://b.example>)", id="image"),
        pytest.param("[a](mailto:b@c.example)", "a (mailto:b@c.example)", id="mail"),
        pytest.param("[a][b]\n\n[b]: /c", "\\[a]\\[b]\n\n\\[b]: /c", id="reference"),
        pytest.param("**[a](https://b.example)**", "**a (**<https://b.example>**)**", id="bold"),
    ],
)
def test_a_link_shows_where_it_leads(text: str, made: str) -> None:
    assert render_markdown(text) == made


@pytest.mark.parametrize("url", ["https://discord.gg/x", "https://discord.com/invite/x"])
def test_an_invitation_shows_no_preview(url: str) -> None:
    assert "<" not in render_markdown(f"[a]({url})")
    assert shown(url).replace("\u200b", "") == url
    assert shown(url) != url


@pytest.mark.parametrize(
    ("text", "made"),
    [
        pytest.param("*a***b**", "*a*\u200b**b**", id="neighbours"),
        pytest.param("*a*b", "*a*b", id="half-a-word"),
        pytest.param("***a***", "**_a_**", id="both"),
        pytest.param("**a `b` c**", "**a** `b` **c**", id="code"),
        pytest.param("**a\nb**", "**a**\n**b**", id="lines"),
        pytest.param("`` a`b ``", "``a`b``", id="backtick"),
    ],
)
def test_styles_begin_and_end_where_they_should(text: str, made: str) -> None:
    assert render_markdown(text) == made


def test_code_is_closed_whatever_it_holds() -> None:
    nodes = read(render_markdown("````md\n```py\nx\n```\n````\nafter"))

    assert [node.kind for node in nodes] == ["block", "text"]
    assert visible_text(nodes).replace("\u200b", "") == "```py\nx\n```\n\nafter"


def test_a_narrow_table_is_shown_in_columns() -> None:
    assert render_markdown("|a|n|\n|-|-:|\n|bc|1|") == "```\na   n\nbc  1\n```"


def test_a_wide_table_is_an_item_a_row_and_a_line_a_cell() -> None:
    text = "|Queue|Cost|Speed|\n|-|-|-|\n|**Redis**|one more system to run||\n"

    assert render_markdown(text) == (
        "- Queue: **Redis**\n  - Cost: one more system to run\n  - Speed: –"
    )


def test_wide_characters_and_emoji_are_never_shown_in_columns() -> None:
    assert render_markdown("|a|\n|-|\n|🙂|") == "- a: **🙂**"


def test_cells_beyond_the_columns_are_not_left_out() -> None:
    assert "over" in shown("|a|\n|-|\n|b|over|")


def test_deeply_nested_text_is_still_shown() -> None:
    assert "deep" in shown("> " * 300 + "deep")


def test_a_broken_token_reads_the_same() -> None:
    assert (
        neutralize("@here <@1> <#2> <t:3:R>") == "@\u200bhere <\u200b@1> <\u200b#2> <\u200bt:3:R>"
    )


@pytest.mark.parametrize("code", ["</b>", "a@b.example", "@property", "<T: 1>", "List<id>"])
def test_harmless_text_is_unchanged(code: str) -> None:
    assert neutralize(code) == code


def test_text_that_looks_like_a_url_is_not_a_link() -> None:
    assert render_markdown("[https://good.example](https://evil.example)") == (
        "https\\://good.example (<https://evil.example>)"
    )
