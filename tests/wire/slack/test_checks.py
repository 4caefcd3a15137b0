"""The validators of messages, views and manifests, and what a message would notify."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.wire.slack import find_mentions, find_message_faults, find_view_faults
from tests.wire.slack.manifest import find_manifest_faults

Payload = dict[str, Any]
Blocks = list[Payload]
Build = Callable[[int], Payload]

DIVIDER: Payload = {"type": "divider"}


def plain(size: int) -> Payload:
    return {"type": "plain_text", "text": "x" * size}


def mrkdwn(size: int) -> Payload:
    return {"type": "mrkdwn", "text": "x" * size}


def section(size: int) -> Payload:
    return {"type": "section", "text": mrkdwn(size)}


def button(**more: object) -> Payload:
    return {"type": "button", "text": plain(1), **more}


def actions(*elements: Payload) -> Payload:
    return {"type": "actions", "elements": list(elements)}


def cell(text: str = "x") -> Payload:
    return {"type": "raw_text", "text": text}


def grid(rows: int, columns: int, text: str = "x") -> list[list[Payload]]:
    return [[cell(text)] * columns for _ in range(rows)]


def table(rows: list[list[Payload]], kind: str = "table", **more: object) -> Payload:
    return {
        "type": kind,
        "rows": rows,
        **({"caption": "c"} if kind == "data_table" else {}),
        **more,
    }


def data_table(rows: list[list[Payload]], **more: object) -> Payload:
    return table(rows, "data_table", **more)


def plan(*ids: int, **more: object) -> Payload:
    task = {"type": "task_card", "title": "Ask", "status": "pending", **more}
    return {
        "type": "plan",
        "title": "Plan",
        "tasks": [{**task, "task_id": f"t{id_}"} for id_ in ids],
    }


def rich(*elements: Payload) -> Payload:
    return {"type": "rich_text", "elements": list(elements)}


def words(*leaves: Payload) -> Payload:
    return {"type": "rich_text_section", "elements": list(leaves)}


def leaf(text: str = "x") -> Payload:
    return {"type": "text", "text": text}


def select(options: int, label: int = 5, value: int = 5) -> Payload:
    one = {"text": plain(label), "value": "v" * value}
    return {"type": "static_select", "action_id": "s", "options": [one] * options}


def feedback(text: int = 5, value: int = 5) -> Payload:
    half = {"text": plain(text), "value": "v" * value}
    return {"type": "feedback_buttons", "positive_button": half, "negative_button": half}


def confirm(title: int, text: int, yes: int) -> Payload:
    return {"title": plain(title), "text": mrkdwn(text), "confirm": plain(yes), "deny": plain(1)}


def field(element: Payload) -> Payload:
    return {"type": "input", "label": plain(5), "element": element}


def file_input(**more: object) -> Payload:
    return {"type": "file_input", "action_id": "f", **more}


def text_input(**more: object) -> Payload:
    return {"type": "plain_text_input", "action_id": "t", **more}


def modal(*blocks: Payload, **more: object) -> Payload:
    common = {"type": "modal", "title": plain(5), "submit": plain(4), "blocks": list(blocks)}
    return {**common, **more}


LIMITS: list[tuple[str, Callable[[int], Blocks], int]] = [
    ("blocks", lambda n: [DIVIDER] * n, 50),
    ("section", lambda n: [section(n)], 3000),
    ("fields", lambda n: [{"type": "section", "fields": [mrkdwn(1)] * n}], 10),
    ("header", lambda n: [{"type": "header", "text": plain(n)}], 150),
    ("context", lambda n: [{"type": "context", "elements": [mrkdwn(1)] * n}], 10),
    ("buttons", lambda n: [actions(*[button()] * n)], 25),
    ("button-text", lambda n: [actions(button(text=plain(n)))], 75),
    ("button-value", lambda n: [actions(button(value="v" * n))], 2000),
    ("button-url", lambda n: [actions(button(url="u" * n))], 3000),
    ("action-id", lambda n: [actions(button(action_id="a" * n))], 255),
    ("block-id", lambda n: [{**DIVIDER, "block_id": "b" * n}], 255),
    ("confirm-title", lambda n: [actions(button(confirm=confirm(n, 300, 30)))], 100),
    ("confirm-text", lambda n: [actions(button(confirm=confirm(1, n, 30)))], 300),
    ("confirm-yes", lambda n: [actions(button(confirm=confirm(1, 1, n)))], 30),
    ("options", lambda n: [actions(select(n))], 100),
    ("option-text", lambda n: [actions(select(1, n))], 75),
    ("option-value", lambda n: [actions(select(1, 1, n))], 150),
    ("all-text", lambda n: [*[section(3000)] * 4, section(n - 12_000)], 13_200),
    ("table-rows", lambda n: [table(grid(n, 1))], 100),
    ("table-columns", lambda n: [table(grid(1, n))], 20),
    ("table-text", lambda n: [table([[cell("x" * n)]])], 10_000),
    ("data-table-rows", lambda n: [data_table(grid(n, 20))], 201),
    ("data-table-text", lambda n: [data_table([[cell()], [cell("x" * (n - 1))]])], 20_000),
    ("page-size", lambda n: [data_table(grid(2, 1), page_size=n)], 100),
    ("tables", lambda n: [table(grid(1, 1)), data_table(grid(2, 1))][:n], 1),
    ("tasks", lambda n: [plan(*range(n))], 50),
    ("feedback", lambda n: [{"type": "context_actions", "elements": [feedback(n)]}], 75),
]


@pytest.mark.parametrize(
    ("build", "most"), [pytest.param(build, most, id=name) for name, build, most in LIMITS]
)
def test_a_messages_limit_holds_and_one_over_it_does_not(
    build: Callable[[int], Blocks], most: int
) -> None:
    assert find_message_faults({"text": "x", "blocks": build(most)}) == []
    assert find_message_faults({"text": "x", "blocks": build(most + 1)})


@pytest.mark.parametrize(
    ("block", "pointer"),
    [
        ({"type": "poll"}, "/type"),
        ({**DIVIDER, "color": 1}, ""),
        (section(0), "/text/text"),
        ({"type": "section"}, ""),
        ({"type": "header", "text": mrkdwn(1)}, "/text/type"),
        (actions(), "/elements"),
        (actions(button(style="default")), "/elements/0/style"),
        (actions(text_input()), "/elements/0/type"),
        (actions(file_input()), "/elements/0/type"),
        (table([[cell("")]]), "/rows/0/0/text"),
        (data_table(grid(1, 1)), "/rows"),
        (data_table([[cell()], [cell(), cell()]]), "/rows"),
        (data_table([[rich(words(leaf()))], [cell()]]), "/rows/0/0"),
        (
            data_table([[cell()], [{"type": "raw_number", "value": "1", "text": "1"}]]),
            "/rows/1/0/value",
        ),
        ({"type": "data_table", "rows": grid(2, 1)}, ""),
        ({**plan(), "title": plain(4)}, "/title"),
        (plan(1, 1), "/tasks"),
        (plan(1, output="Done"), "/tasks/0/output"),
        ({"type": "context_actions", "elements": [button()]}, "/elements/0/type"),
        (rich(leaf()), "/elements/0/type"),
        (rich(words(leaf(""))), "/elements/0/elements/0/text"),
        (rich(words({"type": "broadcast", "range": "all"})), "/elements/0/elements/0/range"),
        (
            rich({"type": "rich_text_list", "style": "bullet", "elements": [leaf()]}),
            "/elements/0/elements/0/type",
        ),
    ],
)
def test_an_invalid_block_is_refused_at_the_place(block: Payload, pointer: str) -> None:
    first = find_message_faults({"text": "x", "blocks": [block]})[0]

    assert (first.code, first.pointer) == ("invalid_blocks", f"/blocks/0{pointer}")


def test_blocks_have_ids_of_their_own() -> None:
    same_action = [actions(button(action_id="a")), actions(button(action_id="a"))]

    assert find_message_faults({"text": "x", "blocks": [{**DIVIDER, "block_id": "b"}] * 2})
    assert find_message_faults({"text": "x", "blocks": same_action})


def test_a_message_says_something_and_its_blocks_are_a_list() -> None:
    assert find_message_faults({"blocks": []})[0].code == "no_text"
    assert find_message_faults({"blocks": DIVIDER})[0].code == "invalid_blocks_format"


VIEW_LIMITS: list[tuple[str, Build, int]] = [
    ("blocks", lambda n: modal(*[DIVIDER] * n), 100),
    ("title", lambda n: modal(DIVIDER, title=plain(n)), 24),
    ("submit", lambda n: modal(DIVIDER, submit=plain(n)), 24),
    ("close", lambda n: modal(DIVIDER, close=plain(n)), 24),
    ("metadata", lambda n: modal(DIVIDER, private_metadata="x" * n), 3000),
    ("callback-id", lambda n: modal(DIVIDER, callback_id="c" * n), 255),
    ("input", lambda n: modal(field(text_input(max_length=n))), 3000),
    ("files", lambda n: modal(field(file_input(max_files=n))), 10),
    ("radio-buttons", lambda n: modal(field({**select(n), "type": "radio_buttons"})), 10),
]


@pytest.mark.parametrize(
    ("build", "most"), [pytest.param(build, most, id=name) for name, build, most in VIEW_LIMITS]
)
def test_a_views_limit_holds_and_one_over_it_does_not(build: Build, most: int) -> None:
    assert find_view_faults(build(most)) == []
    assert {fault.code for fault in find_view_faults(build(most + 1))} == {"invalid_arguments"}


@pytest.mark.parametrize(
    ("view", "pointer"),
    [
        ({"type": "modal", "title": plain(1), "blocks": [field(text_input())]}, "/view"),
        (modal(table(grid(1, 1))), "/view/blocks/0/type"),
        (modal(plan()), "/view/blocks/0/type"),
    ],
)
def test_an_invalid_view_is_refused_at_the_place(view: Payload, pointer: str) -> None:
    assert find_view_faults(view)[0].pointer == pointer


def test_a_view_over_250_kb_is_too_large() -> None:
    assert find_view_faults(modal(*[section(3000)] * 84))[0].code == "view_too_large"


def test_a_manifest_has_the_scopes_and_addresses_it_needs() -> None:
    manifest: Payload = {
        "display_information": {"name": "Council"},
        "features": {"slash_commands": [{"command": "/council", "description": "Ask"}]},
        "oauth_config": {"scopes": {"bot": ["commands"]}},
        "settings": {"socket_mode_enabled": True},
    }
    without = manifest | {
        "settings": {"event_subscriptions": {"bot_events": ["message.im"]}},
        "oauth_config": {"scopes": {"bot": ["app_mentions:read"]}},
    }

    assert find_manifest_faults(manifest) == []
    assert [fault.pointer for fault in find_manifest_faults(without)] == [
        "/features/slash_commands/0",
        "/settings/event_subscriptions",
        "/oauth_config/scopes/bot",
        "/settings/event_subscriptions/bot_events/0",
    ]


QUIET = {"unfurl_links": False, "unfurl_media": False}


def in_rich_text(element: Payload) -> Payload:
    return {"blocks": [rich(words(element))]}


def in_section(text: str, **more: object) -> Payload:
    return {"blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": text, **more}}]}


@pytest.mark.parametrize(
    ("payload", "found"),
    [
        ({"text": "Stop <!channel>"}, "<!channel>"),
        ({"text": "<!here|here> <b>"}, "<!here|here>"),
        ({"text": "<!subteam^S1|@ops>"}, "<!subteam^S1|@ops>"),
        ({"text": "ask <@U1>"}, "<@U1>"),
        (in_section("<!here>"), "<!here>"),
        (in_section("<#C1>"), "<#C1>"),
        (in_section("@here, look"), "@here"),
        (in_rich_text({"type": "broadcast", "range": "here"}), "broadcast here"),
        (in_rich_text({"type": "user", "user_id": "U1"}), "user U1"),
        (in_rich_text({"type": "usergroup", "usergroup_id": "S1"}), "usergroup S1"),
        (in_rich_text({"type": "channel", "channel_id": "C1"}), "channel C1"),
        ({"text": "@channel", "parse": "full"}, "@channel"),
        ({"text": "@ada", "link_names": True}, "name @ada"),
        ({"text": "<https://evil.example|bank>"}, "link 'bank' leads to https://evil.example"),
        (
            in_rich_text({"type": "link", "url": "https://evil.example", "text": "bank"}),
            "link 'bank' leads to https://evil.example",
        ),
    ],
)
def test_a_mention_or_a_hidden_link_is_found(payload: Payload, found: str) -> None:
    assert find_mentions({**QUIET, **payload}) == [found]


@pytest.mark.parametrize(
    "payload",
    [
        {"text": "a &lt;!channel&gt; and &lt;@U1&gt;"},
        {"text": "@channel"},
        {"text": "mail ada@here.example", "parse": "full"},
        {"text": "<https://a.example>"},
        {"text": "<!date^1^{date}|today>"},
        in_section("@\u200bhere"),
        in_section("@here", verbatim=True),
        in_rich_text({"type": "text", "text": "<!channel> @here [a](b)"}),
        in_rich_text({"type": "link", "url": "https://a.example"}),
        {"blocks": [table([[cell("<!here>")]])]},
    ],
)
def test_what_notifies_nobody_is_not_found(payload: Payload) -> None:
    assert find_mentions({**QUIET, **payload}) == []


def test_names_and_links_are_expanded_unless_the_message_says_not_to() -> None:
    assert find_mentions({"text": "@here"}, "chat.update") == ["@here"]
    assert find_mentions({"text": "@here", "parse": "none"}, "chat.update") == []
    expected = ["unfurl_links not switched off", "unfurl_media not switched off"]
    assert find_mentions({"text": "x"}) == expected
