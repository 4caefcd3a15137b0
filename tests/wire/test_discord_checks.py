"""The validator of messages, modals and commands: each limit, and one over it."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.wire.discord import (
    Fault,
    faults_of_command,
    faults_of_message,
    faults_of_modal,
    unseen_attachments,
)

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


def select(**more: object) -> Payload:
    options = [{"label": "x", "value": "x"}]
    return {"type": 3, "custom_id": "s", "options": options, **more}


def option(**more: object) -> Payload:
    return {"label": "x", "value": "x", **more}


def options(count: int) -> list[Payload]:
    return [option(value=str(number)) for number in range(count)]


def embed(**more: object) -> Payload:
    return {"embeds": [more]}


def section(count: int) -> Payload:
    return {"type": 9, "components": [text("x")] * count, "accessory": button()}


def picture(count: int) -> Payload:
    return {"type": 12, "items": [{"media": {"url": "https://example.com/x.png"}}] * count}


def inputs(**more: object) -> Payload:
    return {"type": 4, "style": 1, "custom_id": "t", **more}


def modal(**more: object) -> Payload:
    label = {"type": 18, "label": "x", "component": inputs()}
    return {"custom_id": "m", "title": "x", "components": [label], **more}


def labelled(component: Payload, **more: object) -> Payload:
    return modal(components=[{"type": 18, "label": "x", "component": component, **more}])


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


LIMITS: list[tuple[str, Build, int]] = [
    ("content", lambda n: {"content": "x" * n}, 2000),
    ("nonce", lambda n: {"content": "x", "nonce": "9" * n}, 25),
    ("embeds", lambda n: {"embeds": [{"title": "x"}] * n}, 10),
    ("embed-title", lambda n: embed(title="x" * n), 256),
    ("embed-description", lambda n: embed(description="x" * n), 4096),
    ("embed-fields", lambda n: embed(fields=[{"name": "x", "value": "x"}] * n), 25),
    ("embed-field-name", lambda n: embed(fields=[{"name": "x" * n, "value": "x"}]), 256),
    ("embed-field-value", lambda n: embed(fields=[{"name": "x", "value": "x" * n}]), 1024),
    ("embed-footer", lambda n: embed(footer={"text": "x" * n}), 2048),
    ("embed-author", lambda n: embed(author={"name": "x" * n}), 256),
    (
        "embed-together",
        lambda n: {"embeds": [{"description": "x" * 3000}, {"description": "x" * (n - 3000)}]},
        6000,
    ),
    ("attachments", lambda n: {"attachments": [{"id": k} for k in range(n)]}, 10),
    ("rows", lambda n: old(*[row(button(custom_id=str(k))) for k in range(n)]), 5),
    ("buttons", lambda n: old(row(*[button(custom_id=str(k)) for k in range(n)])), 5),
    ("label", lambda n: old(row(button(label="x" * n))), 80),
    ("custom-id", lambda n: old(row(button(custom_id="x" * n))), 100),
    ("url", lambda n: old(row(link("https://x/".ljust(n, "x")))), 512),
    ("options", lambda n: old(row(select(options=options(n)))), 25),
    ("placeholder", lambda n: old(row(select(placeholder="x" * n))), 150),
    ("option-label", lambda n: old(row(select(options=[option(label="x" * n)]))), 100),
    ("option-value", lambda n: old(row(select(options=[option(value="x" * n)]))), 100),
    ("option-about", lambda n: old(row(select(options=[option(description="x" * n)]))), 100),
    ("selects-in-a-row", lambda n: old(row(*[select(custom_id=str(k)) for k in range(n)])), 1),
    ("section", lambda n: new(section(n)), 3),
    ("gallery", lambda n: new(picture(n)), 10),
    ("components", lambda n: new(*[text("x")] * n), 40),
    ("nested", lambda n: new({"type": 17, "components": [text("x")] * (n - 1)}), 40),
    ("displayed", lambda n: new(text("x" * 3000), text("x" * (n - 3000))), 4000),
]


def link(url: str) -> Payload:
    return {"type": 2, "style": 5, "label": "x", "url": url}


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
        pytest.param(new(text("x"), content="x"), "content", id="content-beside-the-new"),
        pytest.param(new(text("x"), embeds=[{"title": "x"}]), "embeds", id="embeds-beside"),
        pytest.param(old(text("x")), "components.0.type", id="new-without-its-flag"),
        pytest.param(new(text("")), "components.0.content", id="empty-text"),
        pytest.param(old(row(button(), button())), "components.0.components.1.custom_id", id="ids"),
        pytest.param(old(row(button(), select())), "components.0.components.1", id="mixed-row"),
        pytest.param(old(row()), "components.0.components", id="empty-row"),
        pytest.param(old(row(button(url="https://x"))), "components.0.components.0", id="both"),
        pytest.param(old(row(link("ftp://x"))), "components.0.components.0.url", id="scheme"),
        pytest.param(
            old(row(select(options=[option(), option()]))),
            "components.0.components.0.options.1.value",
            id="same-values",
        ),
        pytest.param(
            new({"type": 9, "components": [text("x")]}), "components.0.accessory", id="section"
        ),
        pytest.param(
            new({"type": 13, "file": {"url": "https://x"}}), "components.0.file.url", id="file"
        ),
        pytest.param(
            new({"type": 13, "file": {"url": "attachment://x"}}), "components", id="no-such-file"
        ),
        pytest.param(embed(image={"url": "attachment://x"}), "embeds", id="no-such-picture"),
        pytest.param(
            {"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}},
            "allowed_mentions",
            id="two-ways-to-mention",
        ),
        pytest.param(
            {"content": "x", "allowed_mentions": {"parse": ["all"]}},
            "allowed_mentions.parse.0",
            id="unknown-mention",
        ),
        pytest.param({"content": 5}, "content", id="no-text"),
    ],
)
def test_an_error_names_its_path(payload: Payload, at: str) -> None:
    assert at in [fault.at for fault in faults_of_message(payload)]


def test_a_file_without_a_component_is_invisible() -> None:
    file = {"type": 13, "file": {"url": "attachment://a.txt"}}
    sent = [{"id": 0, "filename": "a.txt"}, {"id": 1, "filename": "b.txt"}]
    payload = new(file, attachments=sent)

    assert faults_of_message(payload) == []
    assert unseen_attachments(payload) == ["b.txt"]
    assert faults_of_message(new(file), files=["a.txt"]) == []


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
    ("radios", lambda n: labelled({"type": 21, "custom_id": "r", "options": options(n)}), 10),
]


@pytest.mark.parametrize(
    ("build", "most"), [pytest.param(build, most, id=name) for name, build, most in MODAL_LIMITS]
)
def test_a_modals_limit_holds_and_one_over_it_does_not(build: Build, most: int) -> None:
    assert faults_of_modal(build(most)) == []
    assert faults_of_modal(build(most + 1))


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


def test_a_fault_reads_as_a_sentence() -> None:
    assert str(Fault("content", "X", "Too long")) == "content: Too long"
