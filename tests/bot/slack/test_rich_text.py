"""Markdown in rich text: all of it is shown, and a link shows where it leads."""

from typing import Any

import pytest

from bot.render.markdown_parser import parse_markdown
from bot.slack.rich_text import escape_mrkdwn, markdown_blocks, neutralize
from tests.bot.slack.block_kit_checks import shown_text

Element = dict[str, Any]


def elements(text: str) -> list[Element]:
    return [e for b in markdown_blocks(parse_markdown(text), as_table=False) for e in b["elements"]]


def leaves(text: str) -> list[Element]:
    return [leaf for element in elements(text) for leaf in element["elements"]]


def test_styles_are_slacks_own() -> None:
    assert [(leaf["text"], leaf.get("style")) for leaf in leaves("**a** *b* ~~c~~ `d`")] == [
        ("a", {"bold": True}),
        (" ", None),
        ("b", {"italic": True}),
        (" ", None),
        ("c", {"strike": True}),
        (" ", None),
        ("d", {"code": True}),
    ]


def test_lists_nest_by_indent_and_count_on_after_code() -> None:
    made = elements("3. a\n4. b\n   - c\n\n     ```\n     x\n     ```\n5. d")

    assert [(e["type"], e.get("indent"), e.get("offset")) for e in made] == [
        ("rich_text_list", None, 2),
        ("rich_text_list", 1, None),
        ("rich_text_preformatted", None, None),
        ("rich_text_list", None, 4),
    ]


def test_a_list_in_a_quote_keeps_its_markers() -> None:
    assert shown_text(elements("> - a\n> - b")) == "• a\n• b"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        pytest.param("[a](https://b.example)", "a (\nhttps://b.example\n)", id="label"),
        pytest.param("<https://b.example>", "https://b.example", id="address"),
        pytest.param("see https://b.example.", "see \nhttps://b.example\n.", id="bare"),
        pytest.param("![a](https://b.example)", "a (\nhttps://b.example\n)", id="image"),
        pytest.param("[a](javascript:x)", "[a](javascript:x)", id="script"),
        pytest.param("[a](mailto:b@c.example)", "a (mailto:b@c.example)", id="mail"),
        pytest.param("[a][b]\n\n[b]: /c", "[a][b]\n\n[b]: /c", id="reference"),
    ],
)
def test_a_link_shows_where_it_leads(text: str, seen: str) -> None:
    assert shown_text(elements(text)) == seen


def test_html_is_text() -> None:
    assert shown_text(elements("<b>a</b>")) == "<b>a</b>"


def test_cells_beyond_the_columns_are_shown() -> None:
    assert "over" in shown_text(elements("|a|\n|-|\n|b|over|"))


def test_deeply_nested_text_is_shown() -> None:
    assert "deep" in shown_text(elements("> " * 300 + "deep"))


def test_words_after_a_fence_that_are_not_a_language_are_shown() -> None:
    assert shown_text(elements("```py\nx\n```")) == "x"
    assert shown_text(elements("``` all of the answer\n```")) == "all of the answer\n"


@pytest.mark.parametrize("code", ["<!DOCTYPE html>", "<!-- a -->", "a@b.example", "@property"])
def test_text_that_mentions_nobody_is_unchanged(code: str) -> None:
    assert neutralize(code) == code


def test_a_broken_token_reads_the_same() -> None:
    assert neutralize("@here <!channel> <@U1>") == "@\u200bhere <\u200b!channel> <\u200b@U1>"
    assert escape_mrkdwn("<!here> & co") == "&lt;\u200b!here&gt; &amp; co"
    assert neutralize(neutralize("@here")) == neutralize("@here")
