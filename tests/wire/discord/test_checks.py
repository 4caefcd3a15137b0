"""The validators of messages, modals and commands, and whom a message notifies."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.wire.discord import faults_of_command, faults_of_message, faults_of_modal, pings_in
from tests.wire.discord.checks.message import Source

Payload = dict[str, Any]
Build = Callable[[int], Payload]

V2 = 1 << 15


def text(content: str) -> Payload:
    return {"type": 10, "content": content}


def button(**more: object) -> Payload:
    return {"type": 2, "style": 2, "label": "x", "custom_id": "x", **more}


def row(*parts: Payload) -> Payload:
    return {"type": 1, "components": list(parts)}


def new(*components: Payload, **more: object) -> Payload:
    return {"flags": V2, "components": list(components), **more}


def old(*components: Payload) -> Payload:
    return {"content": "x", "components": list(components)}


def picture(count: int) -> Payload:
    return {"type": 12, "items": [{"media": {"url": "https://example.com/x.png"}}] * count}


def inputs(**more: object) -> Payload:
    return {"type": 4, "style": 1, "custom_id": "t", **more}


def modal(**more: object) -> Payload:
    label = {"type": 18, "label": "x", "component": inputs()}
    return {"custom_id": "m", "title": "x", "components": [label], **more}


def labelled(component: Payload, **more: object) -> Payload:
    return modal(components=[{"type": 18, "label": "x", "component": component, **more}])


def options(count: int, **more: object) -> list[Payload]:
    return [{"label": str(n), "value": str(n), **more} for n in range(count)]


def labels(text: str) -> Payload:
    return {"label": text, "value": text}


def choices(kind: int, count: int, **more: object) -> Payload:
    return {"type": kind, "custom_id": "c", "options": options(count), **more}


def command(**more: object) -> Payload:
    return {"name": "ask", "description": "x", **more}


def long_command(size: int) -> Payload:
    """Eight options with 10 choices of 100 characters each way, and the rest in the first name."""
    described = {"type": 3, "description": "d" * 100}
    choices = [{"name": "n" * 100, "value": f"{n:0100}"} for n in range(4)]
    whole = [{**described, "name": f"n{n}", "choices": choices} for n in range(8)]
    used = 3 + 1 + 8 * (2 + 100 + 800)
    rest = size - used - 5
    names = ["n" * min(100, rest - 100 * k) for k in range(8)]
    shown = [{"name": name, "value": 1} for name in names if name]
    last = {**described, "name": "last", "description": "d", "choices": shown}
    return command(options=[*whole, last])


def link(url: str) -> Payload:
    return {"type": 2, "style": 5, "label": "x", "url": url}


LIMITS: list[tuple[str, Build, int]] = [
    ("content", lambda n: {"content": "x" * n}, 2000),
    ("nonce", lambda n: {"content": "x", "nonce": "9" * n}, 25),
    ("attachments", lambda n: {"attachments": [{"id": k} for k in range(n)]}, 10),
    ("rows", lambda n: old(*[row(button(custom_id=str(k))) for k in range(n)]), 5),
    ("buttons", lambda n: old(row(*[button(custom_id=str(k)) for k in range(n)])), 5),
    ("label", lambda n: old(row(button(label="x" * n))), 80),
    ("custom-id", lambda n: old(row(button(custom_id="x" * n))), 100),
    ("url", lambda n: old(row(link("https://x/".ljust(n, "x")))), 512),
    ("gallery", lambda n: new(picture(n)), 10),
    ("components", lambda n: new(*[text("x")] * n), 40),
    ("nested", lambda n: new({"type": 17, "components": [text("x")] * (n - 1)}), 40),
    ("displayed", lambda n: new(text("x" * 3000), text("x" * (n - 3000))), 4000),
]


@pytest.mark.parametrize(
    ("build", "most"), [pytest.param(build, most, id=name) for name, build, most in LIMITS]
)
def test_a_limit_holds_and_one_over_it_does_not(build: Build, most: int) -> None:
    assert faults_of_message(build(most)) == []
    over = faults_of_message(build(most + 1))
    assert over
    assert {fault.status for fault in over} == {400}


def test_too_many_bytes_break_discord_itself() -> None:
    """Twice 12 for the displays, 3 bytes a sign: 10 146 bytes of text are just right."""
    assert faults_of_message(new(text("語" * 1700), text("語" * 1682))) == []
    (fault,) = faults_of_message(new(text("語" * 1700), text("語" * 1683)))
    assert fault.status == 500


@pytest.mark.parametrize(
    ("payload", "at"),
    [
        (new(text("x"), content="x"), "content"),
        (new(text("x"), embeds=[{"title": "x"}]), "embeds"),
        (old(text("x")), "components.0.type"),
        (new(text("")), "components.0.content"),
        (old(row(button(), button())), "components.0.components.1.custom_id"),
        (old(row()), "components.0.components"),
        (old(row(button(url="https://x"))), "components.0.components.0"),
        (old(row(link("ftp://x"))), "components.0.components.0.url"),
        (new({"type": 13, "file": {"url": "https://x"}}), "components.0.file.url"),
        (new({"type": 13, "file": {"url": "attachment://x"}}), "components"),
        (
            {"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}},
            "allowed_mentions",
        ),
        ({"content": "x", "allowed_mentions": {"parse": ["all"]}}, "allowed_mentions.parse.0"),
        ({"content": 5}, "content"),
    ],
)
def test_an_error_names_its_path(payload: Payload, at: str) -> None:
    assert at in [fault.at for fault in faults_of_message(payload)]


def test_a_component_may_show_a_file_that_is_sent_or_was() -> None:
    file = new({"type": 13, "file": {"url": "attachment://a.txt"}})

    assert faults_of_message({**file, "attachments": [{"id": 0, "filename": "a.txt"}]}) == []
    assert faults_of_message(file, files=["a.txt"]) == []


MODAL_LIMITS: list[tuple[str, Build, int]] = [
    ("title", lambda n: modal(title="x" * n), 45),
    ("custom-id", lambda n: modal(custom_id="x" * n), 100),
    (
        "components",
        lambda n: modal(
            components=[
                {"type": 18, "label": "x", "component": inputs(custom_id=str(k))} for k in range(n)
            ]
        ),
        5,
    ),
    ("label", lambda n: labelled(inputs(), label="x" * n), 45),
    ("description", lambda n: labelled(inputs(), description="x" * n), 100),
    ("value", lambda n: labelled(inputs(value="x" * n)), 4000),
    ("placeholder", lambda n: labelled(inputs(placeholder="x" * n)), 100),
    ("max-length", lambda n: labelled(inputs(max_length=n)), 4000),
    ("select", lambda n: labelled(choices(3, n)), 25),
    ("radio", lambda n: labelled(choices(21, n)), 10),
    ("files", lambda n: labelled({"type": 19, "custom_id": "f", "max_values": n}), 10),
    ("channels", lambda n: labelled({"type": 8, "custom_id": "c", "max_values": n}), 25),
    ("option", lambda n: labelled({**choices(3, 0), "options": [labels("x" * n)]}), 100),
]


@pytest.mark.parametrize(
    ("build", "most"), [pytest.param(build, most, id=name) for name, build, most in MODAL_LIMITS]
)
def test_a_modals_limit_holds_and_one_over_it_does_not(build: Build, most: int) -> None:
    assert faults_of_modal(build(most)) == []
    assert faults_of_modal(build(most + 1))


@pytest.mark.parametrize(
    "component",
    [
        choices(3, 0),
        choices(21, 1),
        choices(3, 1, disabled=True),
        {**choices(3, 0), "options": [labels("x"), labels("x")]},
        {**choices(21, 0), "options": options(2, default=True)},
        {"type": 2, "style": 1, "label": "x", "custom_id": "b"},
    ],
)
def test_a_modal_refuses_what_its_user_could_not_use(component: Payload) -> None:
    assert faults_of_modal(labelled(component))


def test_a_select_takes_the_whole_row() -> None:
    button = {"type": 2, "style": 1, "label": "x", "custom_id": "b"}

    assert faults_of_message(new({"type": 1, "components": [choices(3, 25)]})) == []
    assert faults_of_message(new({"type": 1, "components": [choices(3, 1), button]}))
    assert faults_of_message(new({"type": 1, "components": [choices(21, 2)]}))


COMMAND_LIMITS: list[tuple[str, Build, int]] = [
    ("name", lambda n: command(name="x" * n), 32),
    ("description", lambda n: command(description="x" * n), 100),
    (
        "options",
        lambda n: command(
            options=[{"type": 3, "name": f"o{k}", "description": "x"} for k in range(n)]
        ),
        25,
    ),
    ("altogether", long_command, 8000),
]


@pytest.mark.parametrize(
    ("build", "most"), [pytest.param(build, most, id=name) for name, build, most in COMMAND_LIMITS]
)
def test_a_commands_limit_holds_and_one_over_it_does_not(build: Build, most: int) -> None:
    assert faults_of_command(build(most)) == []
    assert faults_of_command(build(most + 1))


def test_a_command_has_a_plain_name_and_its_needs_first() -> None:
    late = [
        {"type": 3, "name": "a", "description": "x"},
        {"type": 3, "name": "b", "description": "x", "required": True},
    ]

    assert faults_of_command(command(name="Ask me"))
    assert [fault.at for fault in faults_of_command(command(options=late))] == [
        "options.1.required"
    ]
    assert faults_of_command({"type": 3, "name": "Ask me"}) == []


SAID = "<@1> <@!2> <@&3> @everyone @here"


@pytest.mark.parametrize(
    ("allowed", "source", "pings"),
    [
        (None, "channel", ["<@1>", "<@2>", "<@&3>", "@everyone", "@here"]),
        (None, "interaction", ["<@1>", "<@2>"]),
        ({"parse": []}, "channel", []),
        ({}, "channel", []),
        ({"parse": ["everyone"]}, "channel", ["@everyone", "@here"]),
        ({"users": ["2"]}, "channel", ["<@2>"]),
        ({"roles": ["3"], "parse": []}, "interaction", ["<@&3>"]),
    ],
)
def test_only_allowed_mentions_are_notified(
    allowed: Payload | None, source: Source, pings: list[str]
) -> None:
    assert pings_in({"content": SAID, "allowed_mentions": allowed}, source) == pings


def test_a_text_display_notifies_and_a_reply_unless_it_says_not() -> None:
    reply: Payload = {"content": "x", "message_reference": {"message_id": "1"}}

    assert pings_in(new({"type": 17, "components": [text("<@1>")]})) == ["<@1>"]
    assert pings_in(reply) == ["the author replied to"]
    assert pings_in({**reply, "allowed_mentions": {"parse": []}}) == []
    assert pings_in({**reply, "allowed_mentions": {"replied_user": True}}) != []
