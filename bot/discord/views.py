"""A message as the view that discord.py sends."""

from collections.abc import Callable
from io import BytesIO

import discord
from discord import ui

from bot.discord.buttons import Component
from bot.discord.dress import Message

_TEXT, _ROW, _BUTTON, _FILE, _CONTAINER = 10, 1, 2, 13, 17


def view_of(message: Message, mark: int | None = None) -> ui.LayoutView:
    """Give the view; it is stopped, so that the client neither keeps it nor answers its buttons.

    Needs a running loop. The mark is kept as the first component's number. Presses are heard by
    their ids, whoever made the message and when.
    """
    view = ui.LayoutView(timeout=None)
    for component in message.components:
        view.add_item(_item(component))
    view.children[0].id = mark
    view.stop()
    return view


def files_of(message: Message) -> list[discord.File]:
    """Give the files that go beside the view; each can be sent once."""
    return [discord.File(BytesIO(file.text.encode()), file.name) for file in message.files]


def _item(component: Component) -> ui.Item[ui.LayoutView]:
    return _ITEMS[component["type"]](component)


def _button(component: Component) -> ui.Button[ui.LayoutView]:
    return ui.Button(
        style=discord.ButtonStyle(component["style"]),
        label=component["label"],
        custom_id=component["custom_id"],
    )


def _container(component: Component) -> ui.Container[ui.LayoutView]:
    inside = map(_item, component["components"])
    return ui.Container(*inside, accent_color=component["accent_color"])


_ITEMS: dict[int, Callable[[Component], ui.Item[ui.LayoutView]]] = {
    _TEXT: lambda component: ui.TextDisplay(component["content"]),
    _ROW: lambda component: ui.ActionRow(*map(_button, component["components"])),
    _BUTTON: _button,
    _FILE: lambda component: ui.File(component["file"]["url"]),
    _CONTAINER: _container,
}
