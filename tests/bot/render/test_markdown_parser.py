"""Markdown parser: styled runs, and the walk through a text."""

import pytest

from bot.render.markdown_parser import (
    CodeBlock,
    TextRun,
    code_block,
    embolden,
    first_sentence,
    inline_runs,
    linkify,
    parse_markdown,
    plain_text,
)


def read(text: str) -> list[TextRun]:
    """Return the runs of a paragraph."""
    (inline,) = (token for token in parse_markdown(text).tokens if token.type == "inline")
    return inline_runs(inline.children or ())


def test_text_has_the_enclosing_styles() -> None:
    assert read("a **b *c*** `d`") == [
        TextRun("a "),
        TextRun("b ", ("bold",)),
        TextRun("c", ("bold", "italic")),
        TextRun(" "),
        TextRun("d", ("code",)),
    ]


def test_a_link_becomes_label_and_url() -> None:
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
def test_only_web_addresses_become_links(url: str, *, leads_out: bool) -> None:
    assert TextRun(url, is_address=True).is_web_link is leads_out
    assert not TextRun(url).is_web_link


def test_a_bare_url_excludes_the_sentences_punctuation() -> None:
    assert [leaf.text for leaf in linkify("see https://b.example/c, *d*")] == [
        "see ",
        "https://b.example/c",
        ", *d*",
    ]


def test_bold_text_keeps_its_other_styles() -> None:
    assert embolden([TextRun("a", ("italic",)), TextRun("https://b", is_address=True)]) == [
        TextRun("a", ("italic", "bold")),
        TextRun("https://b", is_address=True),
    ]


def test_plain_text_is_one_line() -> None:
    assert plain_text([TextRun("a\n"), TextRun(" b")]) == "a b"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("```py\nx\n```", CodeBlock("x", "py"), id="language"),
        pytest.param("``` all of it\nx\n```", CodeBlock("all of it\nx"), id="words"),
        pytest.param("    x", CodeBlock("x"), id="indented"),
    ],
)
def test_code_has_its_text_and_language(text: str, code: CodeBlock) -> None:
    assert code_block(parse_markdown(text).tokens[0]) == code


def test_deeply_nested_markdown_becomes_paragraphs() -> None:
    assert {token.type for token in parse_markdown("> " * 100 + "a\n\nb").tokens} == {"inline"}


@pytest.mark.parametrize("source", ["[" * 101, "![" * 101, "[" * 101 + "]" * 101])
def test_brackets_open_at_once_become_text(source: str) -> None:
    assert plain_text(inline_runs(parse_markdown(source).tokens[0].children or ())) == source
    assert [token.type for token in parse_markdown(source).tokens] == ["inline"]


def test_many_closed_brackets_stay_markdown() -> None:
    assert "link_open" in str(parse_markdown("[a](https://example.com) " * 500).tokens)


def test_too_many_brackets_become_paragraphs() -> None:
    assert {token.type for token in parse_markdown("[" * 3_000).tokens} == {"inline"}


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Use **Postgres** itself. It is enough.", "Use Postgres itself."),
        ("Use a queue, e.g. Redis, for that. Then", "Use a queue, e.g. Redis, for that."),
        ("It takes 3.5 seconds. Not more.", "It takes 3.5 seconds."),
        ("# Title\n\nYes! No.", "Yes!"),
        ("```sql\nSELECT 1;\n```\n\nRun this. Then that.", "Run this."),
        ("- First point\n- second point", "First point"),
        ("はい。いいえ。", "はい。"),
        ("# Only a title", "Only a title"),
        ("```\ncode\n```", ""),
        ("", ""),
    ],
)
def test_the_first_sentence_is_plain_and_whole(text: str, first: str) -> None:
    assert first_sentence(text) == first


def test_a_long_first_sentence_is_cut() -> None:
    assert len(first_sentence("word " * 1_000)) <= 200


def test_a_formula_is_shown_as_code() -> None:
    assert read(r"So \(p = .5\).") == [
        TextRun("So "),
        TextRun("p = .5", ("code",)),
        TextRun("."),
    ]
    (block,) = parse_markdown("\\[\na\n\\]").tokens
    assert code_block(block) == CodeBlock("a")
