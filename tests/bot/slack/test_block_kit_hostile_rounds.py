"""Whole rounds of hostile texts: no message or modal of them is invalid, and nobody is notified."""

import pytest

from bot.chat import Post
from bot.render.pagination import paginate
from bot.slack.block_kit import fits_slack, render_ephemeral, render_message, render_text
from bot.slack.messages import NO_PARSING
from bot.slack.modals import modal_pages
from bot.slack.workspace import NO_UNFURL
from tests.bot.hostile_rounds import ANSWERS_PER_ROUND, hostile_posts
from tests.bot.slack.block_kit_checks import (
    find_formatting,
    find_message_faults,
    find_page_faults,
)
from tests.wire.slack import find_mentions

NIGHTLY_ROUNDS = 10_000 // ANSWERS_PER_ROUND


def faults(post: Post) -> list[str]:
    """Return what Slack would refuse, notify, hide or format in every form of a post."""
    found: list[str] = []
    for page in paginate(post, fits_slack):
        for render in (render_message, render_ephemeral, render_text):
            payload = render(page) | NO_PARSING | NO_UNFURL
            found += [*find_message_faults(payload), *find_mentions(payload)]
            found += find_formatting(payload)
    for blocks in modal_pages([post]):
        found += [*find_page_faults(blocks), *find_mentions({"blocks": blocks} | NO_UNFURL)]
    return found


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(15), id="sample"),
        *(
            pytest.param(range(at, at + 250), id=f"from {at}", marks=pytest.mark.nightly)
            for at in range(0, NIGHTLY_ROUNDS, 250)
        ),
    ],
)
def test_no_round_of_hostile_texts_pings_anybody_or_is_refused(seeds: range) -> None:
    found = {seed: [x for post in hostile_posts(seed) for x in faults(post)] for seed in seeds}

    assert {seed: what for seed, what in found.items() if what} == {}
