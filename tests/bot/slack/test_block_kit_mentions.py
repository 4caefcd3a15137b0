"""Mentions notify the users they name, and nobody else."""

from collections.abc import Callable

import pytest

from bot.chat import Line, Mentions, Post
from bot.slack.block_kit import Payload, fits_slack, render_ephemeral, render_message, render_text

CALLED = Post((Line("Claude moved, <@U0BEN> <!channel>."), Mentions(("U0ADA", "W0EVE"))), "s")


@pytest.mark.parametrize("render", [render_message, render_ephemeral])
def test_mentions_are_user_elements(render: Callable[[Post], Payload]) -> None:
    block = render(CALLED)["blocks"][-1]

    (section,) = block["elements"]
    assert [leaf for leaf in section["elements"] if leaf["type"] == "user"] == [
        {"type": "user", "user_id": "U0ADA"},
        {"type": "user", "user_id": "W0EVE"},
    ]
    assert fits_slack(CALLED)


def test_in_plain_text_only_our_own_mentions_are_markup() -> None:
    text = render_text(CALLED)["text"]

    assert text.endswith("\n<@U0ADA>\n<@W0EVE>")
    assert text.count("<") == 2


@pytest.mark.parametrize("id_", ["", "everyone", "!channel", "123", "U0ADA> <!here", "u0ada"])
def test_an_id_that_is_not_a_users_mentions_nobody(id_: str) -> None:
    post = Post((Line("Here."), Mentions((id_,))), "s")

    assert len(render_message(post)["blocks"]) == 1
    assert "<" not in render_text(post)["text"]
