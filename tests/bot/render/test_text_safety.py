"""Untrusted text: what is seen of it, and tokens that no longer work."""

import re

import pytest

from bot.render.text_safety import GAP, Tokens, shortened, shown_text

CALLS = Tokens(re.compile(rf"@(?={GAP}here)", re.IGNORECASE), signs="@＠")


@pytest.mark.parametrize("text", ["@here", "@HERE", "＠here", "@ｈｅｒｅ", "@\ufe0fhere", "@𝐡𝐞𝐫𝐞"])
def test_a_token_is_broken_in_whatever_letters_it_is_written(text: str) -> None:
    assert "\u200b" in CALLS.broken(text)
    assert CALLS.broken(CALLS.broken(text)) == CALLS.broken(text)


def test_what_is_no_token_is_not_touched() -> None:
    assert CALLS.broken("me@home, @her e") == "me@home, @her e"


def test_an_address_leads_to_the_same_place_without_the_token() -> None:
    assert CALLS.broken_url("https://x.example/@here") == "https://x.example/@%68ere"


def test_signs_that_cannot_be_seen_are_not_there() -> None:
    assert shown_text("a\x07\u202eb\r\nc\rd\te") == "ab\nc\nd\te"


def test_a_shortened_text_ends_with_a_whole_word() -> None:
    assert shortened("one two three", 10) == "one two…"
    assert shortened("one", 10) == "one"
