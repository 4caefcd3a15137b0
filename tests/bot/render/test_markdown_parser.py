"""Markdown read once for every chat: leaves in their styles, and the walk through a text."""

import pytest

from bot.render.markdown_parser import (
    Code,
    TextRun,
    bold,
    code_block,
    inline_runs,
    parsed,
    plain_leaves,
    plain_text,
)


def read(text: str) -> list[TextRun]:
    """Give the leaves of a paragraph."""
    (inline,) = (token for token in parsed(text).tokens if token.type == "inline")
    return inline_runs(inline.children or ())


def test_words_have_the_styles_around_them() -> None:
    assert read("a **b *c*** `d`") == [
        TextRun("a "),
        TextRun("b ", ("bold",)),
        TextRun("c", ("bold", "italic")),
        TextRun(" "),
        TextRun("d", ("code",)),
    ]


def test_a_link_is_its_label_and_where_it_leads() -> None:
    assert read("[a](https://b.example 'c')") == [
        TextRun("a"),
        TextRun(" ("),
        TextRun("https://b.example", is_address=True),
        TextRun(", c)"),
    ]


@pytest.mark.parametrize(
    ("url", "leads_out"),
    [("https://b.example", True), ("HTTP://b", True), ("mailto:a@b", False), ("//b", False)],
)
def test_only_an_address_on_the_web_leads_out(url: str, *, leads_out: bool) -> None:
    assert TextRun(url, is_address=True).leads_out is leads_out
    assert not TextRun(url).leads_out


def test_an_address_among_plain_words_ends_before_the_sentence_does() -> None:
    assert [leaf.text for leaf in plain_leaves("see https://b.example/c, *d*")] == [
        "see ",
        "https://b.example/c",
        ", *d*",
    ]


def test_words_made_bold_keep_what_they_were() -> None:
    assert bold([TextRun("a", ("italic",)), TextRun("https://b", is_address=True)]) == [
        TextRun("a", ("italic", "bold")),
        TextRun("https://b", is_address=True),
    ]


def test_what_leaves_say_is_one_line() -> None:
    assert plain_text([TextRun("a\n"), TextRun(" b")]) == "a b"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("```py\nx\n```", Code("x", "py"), id="language"),
        pytest.param("``` all of it\nx\n```", Code("all of it\nx"), id="words"),
        pytest.param("    x", Code("x"), id="indented"),
    ],
)
def test_code_is_what_stands_in_it(text: str, code: Code) -> None:
    assert code_block(parsed(text).tokens[0]) == code


def test_what_is_nested_beyond_reason_is_paragraphs() -> None:
    assert {token.type for token in parsed("> " * 100 + "a\n\nb").tokens} == {"inline"}


def test_what_is_linked_beyond_reason_is_paragraphs() -> None:
    assert {token.type for token in parsed("[" * 3_000).tokens} == {"inline"}
