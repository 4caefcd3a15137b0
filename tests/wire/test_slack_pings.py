"""Mentions, hidden links and unfurled URLs in a message are found."""

from typing import Any

import pytest

from tests.wire.slack import find_mentions

Payload = dict[str, Any]

QUIET = {"unfurl_links": False, "unfurl_media": False}


def in_rich_text(element: Payload) -> Payload:
    section = {"type": "rich_text_section", "elements": [element]}
    return {"blocks": [{"type": "rich_text", "elements": [section]}]}


def in_section(text: str, **more: object) -> Payload:
    return {"blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": text, **more}}]}


def in_markdown(text: str) -> Payload:
    return {"blocks": [{"type": "markdown", "text": text}]}


@pytest.mark.parametrize(
    ("payload", "found"),
    [
        ({"text": "Stop <!channel>"}, "<!channel>"),
        ({"text": "<!here|here> <b>"}, "<!here|here>"),
        ({"text": "<!subteam^S1|@ops>"}, "<!subteam^S1|@ops>"),
        ({"text": "ask <@U1>"}, "<@U1>"),
        ({"markdown_text": "ask <!everyone>"}, "<!everyone>"),
        (in_section("<!here>"), "<!here>"),
        (in_section("<#C1>"), "<#C1>"),
        (in_section("@here, look"), "@here"),
        (in_markdown("`<!channel>`"), "<!channel>"),
        (in_rich_text({"type": "broadcast", "range": "here"}), "broadcast here"),
        (in_rich_text({"type": "user", "user_id": "U1"}), "user U1"),
        (in_rich_text({"type": "usergroup", "usergroup_id": "S1"}), "usergroup S1"),
        (in_rich_text({"type": "channel", "channel_id": "C1"}), "channel C1"),
        ({"text": "@channel", "parse": "full"}, "@channel"),
        ({"text": "@ada", "link_names": True}, "name @ada"),
        ({"text": "<https://evil.example|bank>"}, "link 'bank' leads to https://evil.example"),
        (in_markdown("[bank](https://evil.example)"), "link 'bank' leads to https://evil.example"),
        (in_markdown("[1]: https://evil.example"), "link by reference [1]: https://evil.example"),
        (
            in_rich_text({"type": "link", "url": "https://evil.example", "text": "bank"}),
            "link 'bank' leads to https://evil.example",
        ),
        (
            {"blocks": [{"type": "image", "image_url": "https://e.example/i", "alt_text": "i"}]},
            "image https://e.example/i",
        ),
        ({"attachments": [{"text": "<!here>"}]}, "<!here>"),
    ],
)
def test_it_is_found(payload: Payload, found: str) -> None:
    assert find_mentions({**QUIET, **payload}) == [found]


@pytest.mark.parametrize(
    "payload",
    [
        {"text": "a &lt;!channel&gt; and &lt;@U1&gt;"},
        {"text": "@channel"},
        {"text": "mail ada@here.example", "parse": "full"},
        {"text": "<https://a.example>"},
        {"text": "<!date^1^{date}|today>"},
        in_section("see https://a.example"),
        in_section("@\u200bhere"),
        in_section("@here", verbatim=True),
        in_markdown("[https://a.example](https://a.example)"),
        in_rich_text({"type": "text", "text": "<!channel> @here [a](b)"}),
        in_rich_text({"type": "link", "url": "https://a.example"}),
        {"blocks": [{"type": "table", "rows": [[{"type": "raw_text", "text": "<!here>"}]]}]},
    ],
)
def test_it_is_harmless(payload: Payload) -> None:
    assert find_mentions({**QUIET, **payload}) == []


def test_an_update_names_people_unless_told_not_to() -> None:
    assert find_mentions({"text": "@here"}, "chat.update") == ["@here"]
    assert find_mentions({"text": "@here", "parse": "none"}, "chat.update") == []


def test_a_post_unfurls_unless_told_not_to() -> None:
    expected = ["unfurl_links not switched off", "unfurl_media not switched off"]
    assert find_mentions({"text": "x"}) == expected
