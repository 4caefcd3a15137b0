"""Validation of questions: invisible characters removed, empty and long ones refused."""

import pytest

from bot.chat import MAX_QUESTION_CHARACTERS, clean_text
from bot.context import checked_question
from council.errors import QuestionError
from council.rounds import Question


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        pytest.param("Why\x07 not\x00\uffff?", "Why not?", id="control"),
        pytest.param("\x1b[31mred\x1b[0m", "[31mred[0m", id="terminal-escape"),
        pytest.param("a\x9b31mb", "a31mb", id="eight-bit-escape"),
        pytest.param("\u202eevil\u202c \u2066x\u2069", "evil x", id="bidirectional"),
        pytest.param("pass\u200bword \ufeff!", "password !", id="zero-width"),
        pytest.param("hid\U000e0041den", "hidden", id="tag-characters"),
        pytest.param("one\r\ntwo\rthree\n", "one\ntwo\nthree", id="line-ends"),
        pytest.param("\n\t code:\n\tx = 1 ", "code:\n\tx = 1", id="tabs-inside-stay"),
        pytest.param("می\u200cخواهم", "می\u200cخواهم", id="persian-joiner-stays"),
        pytest.param("👩\u200d💻?", "👩\u200d💻?", id="joined-emoji-stays"),
        pytest.param("Straße? 为什么", "Straße? 为什么", id="letters-stay"),
        pytest.param("Why\udcff?", "Why?", id="unpaired-surrogate"),
    ],
)
def test_a_question_is_kept_as_it_reads(said: str, kept: str) -> None:
    assert clean_text(said) == kept


@pytest.mark.parametrize("empty", ["", "  \n\t ", "\u200b\u202e\x00", "\ufeff"])
def test_a_question_with_nothing_to_read_is_refused(empty: str) -> None:
    with pytest.raises(QuestionError, match="is empty"):
        checked_question(Question(empty))


def test_the_longest_question_is_taken_and_one_character_more_refused() -> None:
    longest = "a" * MAX_QUESTION_CHARACTERS

    assert checked_question(Question(longest + "\u200b")).text == longest
    with pytest.raises(QuestionError, match="20,001 characters; the limit is"):
        checked_question(Question(longest + "a"))


def test_what_a_question_refers_to_counts_towards_its_length() -> None:
    with pytest.raises(QuestionError, match="20,003 characters"):
        checked_question(Question("Why", context="a" * MAX_QUESTION_CHARACTERS))


def test_the_question_keeps_its_asker() -> None:
    assert checked_question(Question(" Why? ", "U1", " a\r\nb ")) == Question("Why?", "U1", "a\nb")
