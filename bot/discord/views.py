"""A message as the view that discord.py sends."""

from collections.abc import Callable
from io import BytesIO

import discord
from discord import ui

from bot.discord.buttons import Component
from bot.discord.dress import Message

_TEXT, _ROW, _BUTTON, _GALLERY, _FILE, _CONTAINER = 10, 1, 2, 12, 13, 17


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
    return [discord.File(BytesIO(file.content), file.name) for file in message.files]


def called_by(message: Message) -> discord.AllowedMentions:
    """Give who is called by the message: whom it mentions for us, and nobody else."""
    if not message.called:
        return discord.AllowedMentions.none()
    people = [discord.Object(int(id_)) for id_ in message.called]
    return discord.AllowedMentions(everyone=False, roles=False, replied_user=False, users=people)


def _item(component: Component) -> ui.Item[ui.LayoutView]:
    return _ITEMS[component["type"]](component)


def _button(component: Component) -> ui.Button[ui.LayoutView]:
    return ui.Button(
        style=discord.ButtonStyle(component["style"]),
        label=component["label"],
        custom_id=component["custom_id"],
    )


def _gallery(component: Component) -> ui.MediaGallery[ui.LayoutView]:
    shown = component["items"]
    return ui.MediaGallery(
        *(
            discord.MediaGalleryItem(item["media"]["url"], description=item["description"] or None)
            for item in shown
        )
    )


def _container(component: Component) -> ui.Container[ui.LayoutView]:
    inside = map(_item, component["components"])
    return ui.Container(*inside, accent_color=component["accent_color"])


_ITEMS: dict[int, Callable[[Component], ui.Item[ui.LayoutView]]] = {
    _TEXT: lambda component: ui.TextDisplay(component["content"]),
    _ROW: lambda component: ui.ActionRow(*map(_button, component["components"])),
    _BUTTON: _button,
    _GALLERY: _gallery,
    _FILE: lambda component: ui.File(component["file"]["url"]),
    _CONTAINER: _container,
}
