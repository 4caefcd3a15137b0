"""The users that a message notifies, as `allowed_mentions` allows."""

from typing import Any

import pytest

from tests.wire.discord import pings_in
from tests.wire.discord.pings import Source

SAID = "<@1> <@!2> <@&3> @everyone @here"


@pytest.mark.parametrize(
    ("allowed", "source", "pings"),
    [
        pytest.param(None, "channel", ["<@1>", "<@2>", "<@&3>", "@everyone", "@here"], id="usual"),
        pytest.param(None, "interaction", ["<@1>", "<@2>"], id="usual-in-interactions"),
        pytest.param({"parse": []}, "channel", [], id="nobody"),
        pytest.param({}, "channel", [], id="nothing-parsed"),
        pytest.param({"parse": ["everyone"]}, "channel", ["@everyone", "@here"], id="everyone"),
        pytest.param({"users": ["2"]}, "channel", ["<@2>"], id="one-by-name"),
        pytest.param({"roles": ["3"], "parse": []}, "interaction", ["<@&3>"], id="one-role"),
    ],
)
def test_only_allowed_mentions_are_notified(
    allowed: dict[str, Any] | None, source: Source, pings: list[str]
) -> None:
    assert pings_in({"content": SAID, "allowed_mentions": allowed}, source) == pings


def test_mentions_notify_in_text_displays_but_not_in_embeds() -> None:
    box = {"type": 17, "components": [{"type": 10, "content": "<@1>"}]}

    assert pings_in({"components": [box], "embeds": [{"description": "<@2>"}]}) == ["<@1>"]


def test_a_reply_notifies_unless_it_says_not() -> None:
    reply: dict[str, Any] = {"content": "x", "message_reference": {"message_id": "1"}}

    assert pings_in(reply) == ["the author replied to"]
    assert pings_in({**reply, "allowed_mentions": {"parse": []}}) == []
    assert pings_in({**reply, "allowed_mentions": {"replied_user": True}}) != []
