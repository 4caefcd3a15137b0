"""Any Markdown is rendered within the limits, without mentions, and completely."""

from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.chat import Button, Buttons, Heading, Note, Post, Prose
from bot.render.formatting import styled_runs
from bot.render.pagination import paginate
from bot.render.text_safety import visible_text
from bot.slack.block_kit import Payload, fits_slack, render_ephemeral, render_message, render_text
from bot.slack.modals import modal_pages
from bot.slack.rich_text import mrkdwn_text
from tests.bot.render.markdowns import MARKDOWN, words
from tests.bot.slack.block_kit_checks import find_mentions, formatted_spans, shown_text
from tests.bot.slack.test_block_kit_injection import faults

BUTTONS = Buttons(tuple(Button(name, name, "r1") for name in ("again", "helpful", "unhelpful")))
SLOW = settings(
    max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


def an_answer(text: str) -> Post:
    return Post((Heading("Why?"), Prose(text), Note("4 of 4 answered"), BUTTONS), "Why?")


@SLOW
@given(MARKDOWN)
def test_any_answer_is_within_limits_and_mentions_nobody(text: str) -> None:
    assert faults(an_answer(text)) == []


@SLOW
@given(MARKDOWN, st.sampled_from([render_message, render_ephemeral, render_text]))
def test_every_word_is_shown_in_order_in_every_form(
    text: str, render: Callable[[Post], Payload]
) -> None:
    messages = [render(page) for page in paginate(an_answer(text), fits_slack)]

    read = "".join(shown_text(m["blocks"]) if "blocks" in m else m["text"] for m in messages)
    assert words(read) == words(text)


MARKS = st.sampled_from(
    [
        *"*_~`<>&:@!|\n ab9\uff0a\uff3f\uff40\uff1e\u200b",
        "**",
        "``",
        ":tada:",
        "<!here>",
        "<@U012ABC>",
        "@channel",
        "https://evil.example",
        "my_panel",
        "`/council`",
        "**strong**",
    ]
)


@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.lists(MARKS, max_size=30).map("".join))
def test_in_a_note_code_and_strong_words_are_formatted_and_nothing_else(text: str) -> None:
    made = mrkdwn_text(styled_runs(text))

    runs = [(visible_text(run).strip(), style) for run, style in styled_runs(text)]
    styles = sorted(style for run, style in runs if run and style)
    assert sorted(kind for kind, _ in formatted_spans(made["text"])) == styles
    assert find_mentions(made) == []


@SLOW
@given(MARKDOWN)
def test_every_word_is_shown_in_order_in_a_modal(text: str) -> None:
    assert words("".join(map(shown_text, modal_pages([an_answer(text)])))) == words(text)
