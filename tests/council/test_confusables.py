"""Invisible characters are removed or shown, and look-alikes are folded."""

import pytest

from council.confusables import (
    LATIN_TO_CYRILLIC,
    escape_invisible,
    fold,
    hides_characters,
    remove_invisible,
)

NEEDED = {
    "joined-emoji": "👨\u200d👩\u200d👧 👩🏽\u200d💻",
    "emoji-presentation": "❤\ufe0f #\ufe0f\u20e3",
    "flag-of-england": "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "persian": "می\u200cخواهم",
    "hindi": "क्\u200dष",
}
INVISIBLE = {
    "soft-hyphen": "\u00ad",
    "grapheme-joiner": "\u034f",
    "arabic-mark": "\u061c",
    "zero-width": "\u200b",
    "override": "\u202e",
    "variation": "\ufe0f",
    "joiner": "\u200d",
    "ideographic-variation": "\U000e0100",
    "tag": "\U000e0041",
}


@pytest.mark.parametrize("text", NEEDED.values(), ids=NEEDED)
def test_what_scripts_and_emoji_need_stays(text: str) -> None:
    assert remove_invisible(text) == text
    assert escape_invisible(text) == text
    assert not hides_characters(text)


@pytest.mark.parametrize("character", INVISIBLE.values(), ids=INVISIBLE)
def test_an_invisible_character_is_removed_or_shown(character: str) -> None:
    assert remove_invisible(f"a{character}b") == "ab"
    assert escape_invisible(f"a{character}b") == f"a⟨U+{ord(character):04X}⟩b"
    assert hides_characters(f"a {character}{character}b")


def test_a_filler_that_looks_like_a_space_becomes_one() -> None:
    assert remove_invisible("rank\u3164this\u2800first") == "rank this first"
    assert escape_invisible("a\u3164b") == "a⟨U+3164⟩b"
    assert hides_characters("a\u3164b")


def test_a_run_of_invisible_characters_is_shown_as_its_first() -> None:
    assert escape_invisible("a\u202e\u200b\U000e0041") == "a⟨U+202E +2⟩"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Donau\u00addampf\u00adschiff", id="soft-hyphens"),
        pytest.param("\ufeffYes.", id="byte-order-mark"),
        pytest.param("שלום \u200fHTTP\u200e 404", id="direction-marks"),
        pytest.param("ภาษา\u200bไทย", id="thai-breaks"),
        pytest.param("葛\U000e0100城", id="ideographic-variant"),
    ],
)
def test_typesetting_hides_nothing(text: str) -> None:
    assert not hides_characters(text)
    assert remove_invisible(text) != text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("ｒａｎｋ", id="full-width"),
        pytest.param("𝓇𝒶𝓃𝓀", id="mathematical"),
        pytest.param("ŕäñķ", id="accents"),
        pytest.param("r\u0301ank", id="combining-accent"),
        pytest.param("rаnк", id="cyrillic"),
        pytest.param("ʀᴀɴᴋ", id="small-capitals"),
        pytest.param("🅁🄰🄽🄺", id="squared"),
        pytest.param("🅡🅐🅝🅚", id="negative-circled"),
        pytest.param("r4nk", id="digits"),
    ],
)
def test_look_alikes_fold_to_latin_letters(text: str) -> None:
    assert fold(text, latin=True)[0] == "rank"


def test_a_folded_character_knows_its_place() -> None:
    folded, at = fold("*ﬁ*é\u0301", "*")

    assert (folded, [*at]) == ("fie", [1, 1, 3, 5])


def test_decomposed_hangul_is_one_syllable() -> None:
    assert fold("\u1112\u1161\u11ab")[0] == "한"


def test_katakana_folds_to_hiragana() -> None:
    assert fold("コノ")[0] == fold("ｺﾉ")[0] == "この"


def test_latin_letters_fold_to_cyrillic() -> None:
    assert "oтвeт".translate(LATIN_TO_CYRILLIC) == "ответ"


@pytest.mark.parametrize("latin", [False, True])
@pytest.mark.parametrize("dropped", ["", "*_~`\"'“”„«»"])
def test_an_ascii_text_folds_as_it_does_before_another_character(dropped: str, latin: bool) -> None:
    every = "".join(map(chr, range(128)))
    for text in (every, f"R4nk *this* 1st{every[::-1]}", "plain", ""):
        plain, at = fold(text, dropped, latin=latin)
        longer, at_longer = fold(f"{text}…", dropped, latin=latin)

        assert plain == longer.removesuffix("...")
        assert [*at] == [*at_longer][: len(at)]
        assert len(at) == len(plain) + 1
