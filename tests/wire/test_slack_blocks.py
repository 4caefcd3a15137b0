"""The validator of blocks and views: exactly at each limit is fine, one over is refused."""

from typing import Any

import pytest

from tests.wire.slack import find_message_faults, find_view_faults

Payload = dict[str, Any]


def plain(length: int) -> Payload:
    return {"type": "plain_text", "text": "x" * length}


def mrkdwn(length: int) -> Payload:
    return {"type": "mrkdwn", "text": "x" * length}


def section(**more: object) -> Payload:
    return {"type": "section", **more}


def button(**more: object) -> Payload:
    return {"type": "button", "text": plain(5), **more}


def actions(*elements: Payload) -> Payload:
    return {"type": "actions", "elements": list(elements)}


def markdown(text: str) -> Payload:
    return {"type": "markdown", "text": text}


def cell(text: str = "x") -> Payload:
    return {"type": "raw_text", "text": text}


def number(value: object = 1, text: str = "1") -> Payload:
    return {"type": "raw_number", "value": value, "text": text}


def grid(rows: int, columns: int, text: str = "x") -> list[list[Payload]]:
    return [[cell(text)] * columns for _ in range(rows)]


def table(rows: list[list[Payload]], **more: object) -> Payload:
    return {"type": "table", "rows": rows, **more}


def data_table(rows: list[list[Payload]], **more: object) -> Payload:
    return {"type": "data_table", "caption": "c", "rows": rows, **more}


def task(number: int = 0, **more: object) -> Payload:
    common = {"type": "task_card", "task_id": f"t{number}", "title": "Ask", "status": "complete"}
    return {**common, **more}


def plan(*tasks: Payload, title: object = "Plan") -> Payload:
    return {"type": "plan", "title": title, "tasks": list(tasks)}


def rich(*elements: Payload) -> Payload:
    return {"type": "rich_text", "elements": list(elements)}


def rich_section(*elements: Payload) -> Payload:
    return {"type": "rich_text_section", "elements": list(elements)}


def words(text: str = "x") -> Payload:
    return {"type": "text", "text": text}


def select(options: int, label: int = 5, value: int = 5) -> Payload:
    one = {"text": plain(label), "value": "v" * value}
    return {"type": "static_select", "action_id": "s", "options": [one] * options}


def feedback(text: int = 5, value: int = 5) -> Payload:
    half = {"text": plain(text), "value": "v" * value}
    return {
        "type": "feedback_buttons",
        "action_id": "f",
        "positive_button": half,
        "negative_button": half,
    }


def context_actions(*elements: Payload) -> Payload:
    return {"type": "context_actions", "elements": list(elements)}


def confirm(title: int = 1, text: int = 1, yes: int = 1) -> Payload:
    return {"title": plain(title), "text": mrkdwn(text), "confirm": plain(yes), "deny": plain(1)}


def field(element: Payload, **more: object) -> Payload:
    return {"type": "input", "label": plain(5), "element": element, **more}


def modal(*blocks: Payload, **more: object) -> Payload:
    common = {"type": "modal", "title": plain(5), "submit": plain(4), "blocks": list(blocks)}
    return {**common, **more}


TEXT_INPUT = {"type": "plain_text_input", "action_id": "t"}
DIVIDER: Payload = {"type": "divider"}
HEADINGS = "\n\n".join(["# h"] * 49)

AT_THE_LIMIT = [
    pytest.param([DIVIDER] * 50, id="fifty-blocks"),
    pytest.param([section(text=mrkdwn(3000))], id="section-text"),
    pytest.param([section(fields=[mrkdwn(1000)] * 10)], id="ten-fields"),
    pytest.param([section(fields=[mrkdwn(2000)])], id="field-text"),
    pytest.param([{"type": "header", "text": plain(150)}], id="header"),
    pytest.param([{"type": "context", "elements": [mrkdwn(1)] * 10}], id="context"),
    pytest.param([actions(*[button()] * 25)], id="twenty-five-buttons"),
    pytest.param(
        [actions(button(text=plain(75), value="v" * 2000, url="u" * 3000, action_id="a" * 255))],
        id="button",
    ),
    pytest.param([actions(button(confirm=confirm(100, 300, 30)))], id="confirm"),
    pytest.param([actions(select(100, 75, 150))], id="select"),
    pytest.param([markdown("x" * 6000), markdown("x" * 6000)], id="markdown-in-all"),
    pytest.param([markdown(HEADINGS)], id="headings-count-as-blocks"),
    pytest.param([*[section(text=mrkdwn(3000))] * 4, section(text=mrkdwn(1200))], id="all-text"),
    pytest.param([table(grid(100, 20))], id="table-size"),
    pytest.param([table(grid(10, 10, "x" * 100))], id="table-text"),
    pytest.param([data_table(grid(201, 20))], id="data-table-size"),
    pytest.param([data_table(grid(10, 20, "x" * 100), page_size=100)], id="data-table-text"),
    pytest.param([data_table([[cell()], [number()], [rich(rich_section(words()))]])], id="cells"),
    pytest.param([plan(*[task(n, status="pending") for n in range(50)])], id="fifty-tasks"),
    pytest.param([task(details=rich(rich_section(words())))], id="task-card"),
    pytest.param([context_actions(feedback(75, 2000))], id="feedback"),
    pytest.param([{"type": "section", "block_id": "b" * 255, "text": mrkdwn(1)}], id="block-id"),
    pytest.param([section(text=mrkdwn(1), accessory=button())], id="accessory"),
]

ONE_OVER = [
    pytest.param([DIVIDER] * 51, "invalid_blocks", "/blocks", id="fifty-one-blocks"),
    pytest.param(
        [section(text=mrkdwn(3001))], "invalid_blocks", "/blocks/0/text/text", id="section-text"
    ),
    pytest.param(
        [section(text=mrkdwn(0))], "invalid_blocks", "/blocks/0/text/text", id="empty-text"
    ),
    pytest.param([section()], "invalid_blocks", "/blocks/0", id="empty-section"),
    pytest.param(
        [section(fields=[mrkdwn(1)] * 11)], "invalid_blocks", "/blocks/0/fields", id="fields"
    ),
    pytest.param(
        [section(fields=[mrkdwn(2001)])],
        "invalid_blocks",
        "/blocks/0/fields/0/text",
        id="field-text",
    ),
    pytest.param(
        [{"type": "header", "text": plain(151)}],
        "invalid_blocks",
        "/blocks/0/text/text",
        id="header",
    ),
    pytest.param(
        [{"type": "header", "text": mrkdwn(1)}],
        "invalid_blocks",
        "/blocks/0/text/type",
        id="mrkdwn-header",
    ),
    pytest.param(
        [{"type": "context", "elements": [mrkdwn(1)] * 11}],
        "invalid_blocks",
        "/blocks/0/elements",
        id="context",
    ),
    pytest.param([actions(*[button()] * 26)], "invalid_blocks", "/blocks/0/elements", id="buttons"),
    pytest.param([actions()], "invalid_blocks", "/blocks/0/elements", id="no-buttons"),
    pytest.param(
        [actions(button(text=plain(76)))],
        "invalid_blocks",
        "/blocks/0/elements/0/text/text",
        id="button-text",
    ),
    pytest.param(
        [actions(button(value="v" * 2001))],
        "invalid_blocks",
        "/blocks/0/elements/0/value",
        id="button-value",
    ),
    pytest.param(
        [actions(button(action_id="a" * 256))],
        "invalid_blocks",
        "/blocks/0/elements/0/action_id",
        id="action-id",
    ),
    pytest.param(
        [actions(button(style="default"))],
        "invalid_blocks",
        "/blocks/0/elements/0/style",
        id="button-style",
    ),
    pytest.param(
        [actions(button(confirm=confirm(101)))],
        "invalid_blocks",
        "/blocks/0/elements/0/confirm/title/text",
        id="confirm",
    ),
    pytest.param(
        [actions(select(101))], "invalid_blocks", "/blocks/0/elements/0/options", id="options"
    ),
    pytest.param(
        [actions(select(1, 76))],
        "invalid_blocks",
        "/blocks/0/elements/0/options/0/text/text",
        id="option",
    ),
    pytest.param(
        [actions(TEXT_INPUT)], "invalid_blocks", "/blocks/0/elements/0/type", id="input-in-actions"
    ),
    pytest.param([markdown("x" * 12_001)], "msg_too_long", "/blocks/0/text", id="markdown"),
    pytest.param(
        [markdown("x" * 6001), markdown("x" * 6000)],
        "msg_too_long",
        "/blocks",
        id="markdown-in-all",
    ),
    pytest.param(
        [markdown(f"{HEADINGS}\n\n---\n")], "invalid_blocks", "/blocks", id="dividers-count"
    ),
    pytest.param(
        [*[section(text=mrkdwn(3000))] * 4, section(text=mrkdwn(1201))],
        "msg_blocks_too_long",
        "/blocks",
        id="all-text",
    ),
    pytest.param([table(grid(101, 1))], "invalid_blocks", "/blocks/0/rows", id="table-rows"),
    pytest.param([table(grid(1, 21))], "invalid_blocks", "/blocks/0/rows/0", id="table-columns"),
    pytest.param(
        [table([[cell("")]])], "invalid_blocks", "/blocks/0/rows/0/0/text", id="empty-cell"
    ),
    pytest.param(
        [table([[*grid(1, 20, "x" * 500)[0]], [cell()]])],
        "invalid_blocks",
        "/blocks/0/rows",
        id="table-text",
    ),
    pytest.param(
        [table(grid(1, 1)), data_table(grid(2, 1))],
        "invalid_attachments",
        "/blocks",
        id="two-tables",
    ),
    pytest.param([data_table(grid(202, 1))], "invalid_blocks", "/blocks/0/rows", id="data-rows"),
    pytest.param([data_table(grid(1, 1))], "invalid_blocks", "/blocks/0/rows", id="header-alone"),
    pytest.param(
        [data_table([[cell()], [cell(), cell()]])], "invalid_blocks", "/blocks/0/rows", id="uneven"
    ),
    pytest.param(
        [data_table([[rich(rich_section(words()))], [cell()]])],
        "invalid_blocks",
        "/blocks/0/rows/0/0",
        id="rich-header",
    ),
    pytest.param(
        [data_table(grid(2, 1), page_size=101)],
        "invalid_blocks",
        "/blocks/0/page_size",
        id="page-size",
    ),
    pytest.param(
        [{"type": "data_table", "rows": grid(2, 1)}], "invalid_blocks", "/blocks/0", id="caption"
    ),
    pytest.param(
        [data_table([[cell()], [number("1")]])],
        "invalid_blocks",
        "/blocks/0/rows/1/0/value",
        id="raw-number",
    ),
    pytest.param(
        [plan(title=plain(4))], "invalid_blocks", "/blocks/0/title", id="title-is-an-object"
    ),
    pytest.param(
        [plan(*[task(n) for n in range(51)])], "invalid_blocks", "/blocks/0/tasks", id="tasks"
    ),
    pytest.param([plan(task(1), task(1))], "invalid_blocks", "/blocks/0/tasks", id="same-task"),
    pytest.param(
        [task(status="pending")], "invalid_blocks", "/blocks/0/status", id="pending-alone"
    ),
    pytest.param([task(output="Done")], "invalid_blocks", "/blocks/0/output", id="bare-output"),
    pytest.param(
        [context_actions(*[feedback()] * 6)],
        "invalid_blocks",
        "/blocks/0/elements",
        id="context-actions",
    ),
    pytest.param(
        [context_actions(button())],
        "invalid_blocks",
        "/blocks/0/elements/0/type",
        id="button-in-context-actions",
    ),
    pytest.param(
        [context_actions({"type": "icon_button", "icon": "star", "text": plain(1)})],
        "invalid_blocks",
        "/blocks/0/elements/0/icon",
        id="icon",
    ),
    pytest.param(
        [actions(button(action_id="a")), actions(button(action_id="a"))],
        "invalid_blocks",
        "/blocks",
        id="same-action",
    ),
    pytest.param([{**DIVIDER, "block_id": "b"}] * 2, "invalid_blocks", "/blocks", id="same-block"),
    pytest.param([{"type": "poll"}], "invalid_blocks", "/blocks/0/type", id="unknown-block"),
    pytest.param([{**DIVIDER, "color": 1}], "invalid_blocks", "/blocks/0", id="unknown-key"),
    pytest.param(
        [{"type": "alert", "text": plain(1)}],
        "invalid_blocks",
        "/blocks/0/type",
        id="alert-in-message",
    ),
    pytest.param(
        [rich(words())], "invalid_blocks", "/blocks/0/elements/0/type", id="text-without-section"
    ),
    pytest.param(
        [rich(rich_section(words("")))],
        "invalid_blocks",
        "/blocks/0/elements/0/elements/0/text",
        id="empty-words",
    ),
    pytest.param(
        [rich(rich_section({"type": "broadcast", "range": "all"}))],
        "invalid_blocks",
        "/blocks/0/elements/0/elements/0/range",
        id="broadcast-range",
    ),
    pytest.param(
        [rich({"type": "rich_text_list", "style": "bullet", "elements": [words()]})],
        "invalid_blocks",
        "/blocks/0/elements/0/elements/0/type",
        id="bare-list-item",
    ),
]


@pytest.mark.parametrize("blocks", AT_THE_LIMIT)
def test_a_message_exactly_at_the_limit_is_fine(blocks: list[Payload]) -> None:
    assert find_message_faults({"text": "x", "blocks": blocks}) == []


@pytest.mark.parametrize(("blocks", "code", "pointer"), ONE_OVER)
def test_a_message_past_a_limit_is_refused_at_the_place(
    blocks: list[Payload], code: str, pointer: str
) -> None:
    first = find_message_faults({"text": "x", "blocks": blocks})[0]

    assert (first.code, first.pointer) == (code, pointer)


def test_a_message_of_nothing_has_no_text() -> None:
    assert find_message_faults({"blocks": []})[0].code == "no_text"


def test_blocks_that_are_no_list_have_the_wrong_format() -> None:
    assert find_message_faults({"blocks": {"type": "divider"}})[0].code == "invalid_blocks_format"


def test_markdown_text_excludes_blocks() -> None:
    faults = find_message_faults({"markdown_text": "x", "blocks": [DIVIDER]})

    assert faults[0].code == "markdown_text_conflict"


def test_blocks_in_attachments_are_looked_at() -> None:
    faults = find_message_faults({"attachments": [{"blocks": [{"type": "poll"}]}]})

    assert faults[0].code == "invalid_attachments"
    assert faults[0].pointer == "/attachments/0/blocks/0/type"


def test_a_heading_inside_a_code_fence_is_none() -> None:
    fenced = "```\n" + "# not a heading\n" * 60 + "```"

    assert find_message_faults({"text": "x", "blocks": [markdown(fenced)]}) == []


VIEWS_AT_THE_LIMIT = [
    pytest.param(modal(*[DIVIDER] * 100), id="a-hundred-blocks"),
    pytest.param(modal(DIVIDER, title=plain(24), close=plain(24), submit=plain(24)), id="titles"),
    pytest.param(
        modal(DIVIDER, private_metadata="x" * 3000, callback_id="c" * 255), id="what-it-carries"
    ),
    pytest.param(modal(field({**TEXT_INPUT, "max_length": 3000})), id="input"),
    pytest.param(
        modal(field({**select(3), "type": "radio_buttons"}), {"type": "alert", "text": plain(200)}),
        id="radio-buttons-and-alert",
    ),
    pytest.param({"type": "home", "blocks": [table(grid(1, 1))]}, id="home-with-table"),
]
VIEWS_PAST_IT = [
    pytest.param(modal(*[DIVIDER] * 101), "/view/blocks", id="blocks"),
    pytest.param(modal(DIVIDER, title=plain(25)), "/view/title/text", id="title"),
    pytest.param(modal(DIVIDER, submit=plain(25)), "/view/submit/text", id="submit"),
    pytest.param(modal(DIVIDER, close=plain(25)), "/view/close/text", id="close"),
    pytest.param(
        modal(DIVIDER, private_metadata="x" * 3001), "/view/private_metadata", id="metadata"
    ),
    pytest.param(modal(DIVIDER, callback_id="c" * 256), "/view/callback_id", id="callback-id"),
    pytest.param(
        {"type": "modal", "title": plain(1), "blocks": [field(TEXT_INPUT)]}, "/view", id="no-submit"
    ),
    pytest.param(
        modal(field({**TEXT_INPUT, "max_length": 3001})),
        "/view/blocks/0/element/max_length",
        id="input-length",
    ),
    pytest.param(modal(markdown("x")), "/view/blocks/0/type", id="markdown-in-modal"),
    pytest.param(modal(table(grid(1, 1))), "/view/blocks/0/type", id="table-in-modal"),
    pytest.param(modal(plan()), "/view/blocks/0/type", id="plan-in-modal"),
    pytest.param(modal(context_actions(feedback())), "/view/blocks/0/type", id="feedback-in-modal"),
    pytest.param({"type": "home", "blocks": [plan()]}, "/view/blocks/0/type", id="plan-in-home"),
]


@pytest.mark.parametrize("view", VIEWS_AT_THE_LIMIT)
def test_a_view_exactly_at_the_limit_is_fine(view: Payload) -> None:
    assert find_view_faults(view) == []


@pytest.mark.parametrize(("view", "pointer"), VIEWS_PAST_IT)
def test_a_view_past_a_limit_is_refused_at_the_place(view: Payload, pointer: str) -> None:
    first = find_view_faults(view)[0]

    assert (first.code, first.pointer) == ("invalid_arguments", pointer)


def test_a_view_over_250_kb_is_too_large() -> None:
    view = modal(*[section(text=mrkdwn(3000)) for _ in range(84)])

    assert find_view_faults(view)[0].code == "view_too_large"
