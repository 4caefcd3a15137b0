"""Which letters of a judge's text mean answers: neither words, code nor figures of speech do."""

import re

import pytest

from bot.render.round_report.label_mentions import find_label_mentions

LABELS = "ABCDEI"


def shown(text: str, *texts: str) -> str:
    """Return the text with each letter that means an answer in angle brackets."""
    for at, label in reversed(find_label_mentions(text, LABELS, texts)):
        text = f"{text[:at]}<{label}>{text[at + 1 :]}"
    return text


@pytest.mark.parametrize(
    "text",
    [
        "Response <A> names the index.",
        "Responses <A>, <B> and <C> agree; the answer <D>'s claim fails.",
        "<B> > <A> = <C>.",
        "<A> gives the index and <C> does not. <A> covers vacuum, <B> omits it.",
        "I rank <A> first, then <B>.",
        "It is better than <B>, but not than <C>.",
        "<B>'s plan is right; (<C>) is not, and **<D>** is short.",
        "Clearly <B> wins over <C>/<D>.",
        "`<A>` is the best.",
        "- <B>: too long\n- <C>: right",
        "<A>, <B> and <C> are close.",
        "Both <A> and <B> pick Postgres, while <C> has Redis.",
        "I is better than I.",
        "Only <E> keeps its word.",
        "Does <B>'s plan scale? Can <C> do it?",
    ],
)
def test_a_letter_that_means_an_answer_is_found(text: str) -> None:
    plain = re.sub(r"<([A-Z])>", r"\1", text)

    assert shown(plain) == text


@pytest.mark.parametrize(
    "text",
    [
        "It explains the B-tree index and gives C# samples.",
        "Plan B is missing, and vitamin D.",
        "Hepatitis B is dangerous. I give it a grade B+.",
        "It filters by `WHERE id = A` and `x[B]`.",
        "A class of answers. A series of steps, C++ and B2B.",
        "I prefer it. A focus on speed, A bus.",
        "```\nA = B\n```",
        "Team C and type A blood.",
        "See appendix B, section C.",
        "R&D and A/B tests.",
        "Z is none of them.",
    ],
)
def test_any_other_letter_stays(text: str) -> None:
    assert shown(text) == text


def test_a_letter_that_question_and_answers_have_after_the_same_word_is_theirs() -> None:
    text = "It picks only C for that. It writes in C."

    assert shown(text) == "It picks only <C> for that. It writes in <C>."
    assert shown(text, "Should we write it in C?") == "It picks only <C> for that. It writes in C."


def test_an_answer_of_lower_case_is_its_label() -> None:
    assert find_label_mentions("Answer b is short.", LABELS) == [(7, "B")]
