"""No answer, however hostile, mentions anybody, forges a component or breaks a message."""

import pytest

import tests.wire.discord as wire
from bot.chat import Caution, Heading, Line, Note, Post, Prose, Quote, Step, Steps, StepState, Table
from bot.discord.components import fits_discord, render_components
from bot.render.pagination import paginate
from tests.bot.discord.limits import components_of, find_pings, message_faults, payload_of, texts
from tests.bot.discord.markdown_reader import kinds, read
from tests.bot.hostile_rounds import ANSWERS_PER_ROUND, hostile_posts
from tests.bot.render.hostile import ANSWERS, DISCORD_TOKENS, FORGED, HUGE, LINKS, PARTED, TOKENS

SAMPLE_CHARACTERS = 4_000
NESTED, NESTED_CHARACTERS = ("[[", "![!["), 800  # the parser takes far longer for these
SMALL = [answer for answer in ANSWERS if answer not in HUGE]
HUNDREDS = [SMALL[at : at + 100] for at in range(0, len(SMALL), 100)]
FORBIDDEN = {"mention", "masked", "moment", "emoji", "spoiler", "underline", "scheme", "bare"}


def sample(answer: str) -> str:
    return answer[: NESTED_CHARACTERS if answer.startswith(NESTED) else SAMPLE_CHARACTERS]


def faults(post: Post) -> list[str]:
    """Return what Discord would refuse, notify or format in a post."""
    found = []
    for page in paginate(post, fits_discord):
        message = render_components(page)
        for text in texts(components_of(message)):
            found += sorted(FORBIDDEN.intersection(kinds(read(text))))
        payload = payload_of(message)
        # A second opinion, as if every mention were let through.
        bare = {name: value for name, value in payload.items() if name != "allowed_mentions"}
        found += [*message_faults(message), *find_pings(payload), *wire.pings_in(bare)]
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


def test_there_are_at_least_fifty_answers_that_speak_to_discord() -> None:
    assert len(DISCORD_TOKENS) >= 50


@pytest.mark.parametrize("answers", HUNDREDS, ids=range(len(HUNDREDS)))
def test_no_hostile_answer_mentions_anybody_is_executed_or_breaks_a_message(
    answers: list[str],
) -> None:
    assert {answer: found for answer in answers if (found := faults(an_answer(answer)))} == {}


@pytest.mark.parametrize("at", range(len(HUGE)))
def test_no_huge_answer_breaks_a_message(at: int) -> None:
    assert faults(an_answer(sample(HUGE[at]))) == []


@pytest.mark.nightly
@pytest.mark.parametrize("at", [at for at in range(len(HUGE)) if sample(HUGE[at]) != HUGE[at]])
def test_no_huge_answer_breaks_a_message_at_full_length(at: int) -> None:
    assert faults(an_answer(HUGE[at])) == []


def test_no_part_of_a_post_contains_markup() -> None:
    said = [*TOKENS, *DISCORD_TOKENS, *PARTED, *LINKS, *FORGED]

    assert {text: found for text in said if (found := faults(everywhere(text)))} == {}


# In the nightly run 10,000 answers.
ROUNDS = [
    range(10),
    *(
        pytest.param(range(at, at + 100), marks=pytest.mark.nightly)
        for at in range(10, 10_000 // ANSWERS_PER_ROUND, 100)
    ),
]


@pytest.mark.parametrize("seeds", ROUNDS, ids=str)
def test_no_hostile_round_mentions_anybody_or_breaks_a_message(seeds: range) -> None:
    for seed in seeds:
        for post in hostile_posts(seed):
            assert faults(post) == [], f"round {seed}: {post.summary!r}"
