"""A hostile answer cannot mention anybody, forge a block or break a message."""

import pytest

from bot.chat import Caution, Heading, Line, Note, Post, Prose, Quote, Step, Steps, StepState, Table
from bot.slack.modals import modal_pages
from tests.bot.render.hostile import ANSWERS, FORGED, HUGE, LINKS, PARTED, TOKENS
from tests.bot.slack.block_kit_checks import find_mentions, find_page_faults, find_post_faults

SMALL = [answer for answer in ANSWERS if answer not in HUGE]
SLOW = ("- item", "[a](https", "[[", "![![")
SLOW_CHARACTERS = 800
CUT = [text[:SLOW_CHARACTERS] if text.startswith(SLOW) else text for text in HUGE]


def faults(post: Post) -> list[str]:
    found = find_post_faults(post)
    for blocks in modal_pages([post]):
        found += [*find_page_faults(blocks), *find_mentions({"blocks": blocks})]
    return found


def an_answer(text: str) -> Post:
    return Post((Heading("Why?"), Prose(text), Note("4 of 4 answered")), "Why?")


def everywhere(text: str) -> Post:
    return Post(
        (
            Heading(text),
            Caution(text),
            Prose(text),
            Quote(text),
            Line(text),
            Table((text[:99], "n"), ((text, "1"), ("", text)), frozenset({1})),
            Steps(text[:99], (Step(text[:99], StepState.MISSING, text[:99]),)),
            Note(text),
        ),
        text,
    )


def test_there_are_at_least_two_hundred_hostile_answers() -> None:
    assert len(ANSWERS) >= 200


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param(SMALL[::7], id="sample"),
        pytest.param(SMALL, id="all", marks=pytest.mark.nightly),
        pytest.param(CUT[::6], id="huge"),
        pytest.param(CUT, id="all-huge", marks=pytest.mark.nightly),
        pytest.param(
            [text for text in HUGE if text not in CUT], id="slow", marks=pytest.mark.nightly
        ),
    ],
)
def test_no_hostile_answer_mentions_anybody_or_breaks_a_message(answers: list[str]) -> None:
    assert {answer[:200]: found for answer in answers if (found := faults(an_answer(answer)))} == {}


def test_no_part_of_a_post_is_parsed_as_markup() -> None:
    texts = [*TOKENS, *PARTED, *LINKS, *FORGED]

    assert {text: found for text in texts if (found := faults(everywhere(text)))} == {}
