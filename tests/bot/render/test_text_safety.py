"""Untrusted text: visible characters and broken tokens."""

import re

import pytest

from bot.render.text_safety import INVISIBLE_PATTERN, Tokens, shorten, visible_text

CALLS = Tokens(re.compile(rf"@(?={INVISIBLE_PATTERN}here)", re.IGNORECASE), signs="@＠")


@pytest.mark.parametrize("text", ["@here", "@HERE", "＠here", "@ｈｅｒｅ", "@𝐡𝐞𝐫𝐞"])
def test_a_token_in_styled_letters_is_broken(text: str) -> None:
    assert "\u200b" in CALLS.broken(text)
    assert CALLS.broken(CALLS.broken(text)) == CALLS.broken(text)


def test_other_text_is_unchanged() -> None:
    assert CALLS.broken("me@home, @her e") == "me@home, @her e"


def test_a_url_without_its_token_is_equivalent() -> None:
    assert CALLS.neutralize_url("https://x.example/@here") == "https://x.example/@%68ere"


def test_invisible_characters_are_shown() -> None:
    assert visible_text("a\x07\u202eb\r\nc\rd\te") == "a⟨U+202E⟩b\nc\nd\te"
    assert visible_text("@\ufe0fhere, f\u00adg\u200b") == "@⟨U+FE0F⟩here, f⟨U+00AD⟩g"
    assert visible_text("\U000e0041\U000e0042") == "⟨U+E0041 +1⟩"
    assert visible_text("❤\ufe0f 👩\u200d💻 می\u200cخواهم") == "❤\ufe0f 👩\u200d💻 می\u200cخواهم"


def test_a_cut_text_ends_with_a_whole_word() -> None:
    assert shorten("one two three", 10) == "one two…"
    assert shorten("one", 10) == "one"
