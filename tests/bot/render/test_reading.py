"""Markdown read once for every chat: leaves in their styles, and the walk through a text."""

import pytest

from bot.render.markdown_parser import (
    Code,
    Leaf,
    bold,
    code_of,
    leaves_of,
    parsed,
    plain_leaves,
    words_of,
)


def read(text: str) -> list[Leaf]:
    """Give the leaves of a paragraph."""
    (inline,) = (token for token in parsed(text).tokens if token.type == "inline")
    return leaves_of(inline.children or ())


def test_words_have_the_styles_around_them() -> None:
    assert read("a **b *c*** `d`") == [
        Leaf("a "),
        Leaf("b ", ("bold",)),
        Leaf("c", ("bold", "italic")),
        Leaf(" "),
        Leaf("d", ("code",)),
    ]


def test_a_link_is_its_label_and_where_it_leads() -> None:
    assert read("[a](https://b.example 'c')") == [
        Leaf("a"),
        Leaf(" ("),
        Leaf("https://b.example", is_address=True),
        Leaf(", c)"),
    ]


@pytest.mark.parametrize(
    ("url", "leads_out"),
    [("https://b.example", True), ("HTTP://b", True), ("mailto:a@b", False), ("//b", False)],
)
def test_only_an_address_on_the_web_leads_out(url: str, *, leads_out: bool) -> None:
    assert Leaf(url, is_address=True).leads_out is leads_out
    assert not Leaf(url).leads_out


def test_an_address_among_plain_words_ends_before_the_sentence_does() -> None:
    assert [leaf.text for leaf in plain_leaves("see https://b.example/c, *d*")] == [
        "see ",
        "https://b.example/c",
        ", *d*",
    ]


def test_words_made_bold_keep_what_they_were() -> None:
    assert bold([Leaf("a", ("italic",)), Leaf("https://b", is_address=True)]) == [
        Leaf("a", ("italic", "bold")),
        Leaf("https://b", is_address=True),
    ]


def test_what_leaves_say_is_one_line() -> None:
    assert words_of([Leaf("a\n"), Leaf(" b")]) == "a b"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("```py\nx\n```", Code("x", "py"), id="language"),
        pytest.param("``` all of it\nx\n```", Code("all of it\nx"), id="words"),
        pytest.param("    x", Code("x"), id="indented"),
    ],
)
def test_code_is_what_stands_in_it(text: str, code: Code) -> None:
    assert code_of(parsed(text).tokens[0]) == code


def test_what_is_nested_beyond_reason_is_paragraphs() -> None:
    assert {token.type for token in parsed("> " * 100 + "a\n\nb").tokens} == {"inline"}


def test_what_is_linked_beyond_reason_is_paragraphs() -> None:
    assert {token.type for token in parsed("[" * 3_000).tokens} == {"inline"}
