"""Any Markdown that a model writes is within limits, harmless and complete in Discord."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from markdown_it import MarkdownIt

from bot.chat import Button, Buttons, Heading, Note, Post, Prose
from bot.discord.components import fits_discord, render_components
from bot.render.pagination import paginate
from tests.bot.discord.limits import components_of, texts
from tests.bot.discord.markdown_reader import kinds, read, visible_text
from tests.bot.discord.test_components_hostile_texts import faults
from tests.bot.render.markdowns import MARKDOWN, words

BUTTONS = Buttons(tuple(Button(name, name, "r1") for name in ("again", "helpful", "unhelpful")))
SHOWN = {
    "text", "block", "quote", "heading", "small", "end", "list", "item", "address", "strong", "em",
    "strike", "code",
}  # fmt: skip
SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


def an_answer(text: str) -> Post:
    return Post((Heading("Why?"), Prose(text), Note("4 of 4 answered"), BUTTONS), "Why?")


def said(text: str) -> list[str]:
    made = [render_components(page) for page in paginate(an_answer(text), fits_discord)]
    return [one for message in made for one in texts(components_of(message))]


def of_heads(text: str) -> set[str]:
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    heads = (tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "th_open")
    return {word for head in heads for word in words(head)}


def is_within_limits_and_mentions_nobody(text: str) -> None:
    assert faults(an_answer(text)) == []


def every_word_is_shown_in_order(text: str) -> None:
    shown = words("".join(map(visible_text, map(read, said(text)))))

    heads = of_heads(text)
    assert [w for w in shown if w not in heads] == [w for w in words(text) if w not in heads]
    assert heads <= set(shown)


def discord_reads_only_the_markup_that_was_rendered(text: str) -> None:
    assert {kind for one in said(text) for kind in kinds(read(one))} <= SHOWN


def paging_is_the_same_every_time(text: str) -> None:
    assert paginate(an_answer(text), fits_discord) == paginate(an_answer(text), fits_discord)


def the_first_page_has_all_but_the_rest_of_the_answer(text: str) -> None:
    first = paginate(an_answer(text), fits_discord)[0].parts

    assert first[0] == Heading("Why?")
    assert first[-2:] == (Note("4 of 4 answered"), BUTTONS)


PROMISES = pytest.mark.parametrize(
    "promise",
    [
        is_within_limits_and_mentions_nobody,
        every_word_is_shown_in_order,
        discord_reads_only_the_markup_that_was_rendered,
        paging_is_the_same_every_time,
        the_first_page_has_all_but_the_rest_of_the_answer,
    ],
)


@PROMISES
@settings(SLOW, max_examples=15)
@given(text=MARKDOWN)
def test_any_answer_keeps_its_promise(promise: Callable[[str], None], text: str) -> None:
    promise(text)


@pytest.mark.nightly
@PROMISES
@settings(SLOW, max_examples=300)
@given(text=MARKDOWN)
def test_many_answers_keep_their_promise(promise: Callable[[str], None], text: str) -> None:
    promise(text)
