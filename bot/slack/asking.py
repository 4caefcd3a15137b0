"""The modal to ask in: question, context, panel, and who may read the answer."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.access import allows
from bot.chat import Said, UnwelcomeError
from bot.commands.ask import Choice
from bot.commands.context import Desk
from bot.render.round_status import receivers
from bot.render.text_safety import shortened
from bot.slack.modals import View
from bot.slack.plain import inert
from bot.slack.workspace import CHAT, Workspace
from council.errors import CouncilError, PanelError
from council.panel import Panel
from council.places import Place

CALLBACK = "council:ask"
QUESTION, CONTEXT, PANEL, AUDIENCE, CHANNEL = "question", "context", "panel", "audience", "channel"
HERE, ONLY_ME = "here", "me"
INPUT, OPTION = 3000, 75  # characters that Slack takes
MOST_OPTIONS = 100
NO_PLACE = "Choose a channel, or have the answer for yourself alone."
_CHANNELS = {
    "type": "conversations_select",
    "default_to_current_conversation": True,
    "filter": {"include": ["public", "private"], "exclude_bot_users": True},
}


class NoPlaceError(CouncilError):
    """Nobody said where the answer is to be posted."""


@dataclass(frozen=True, slots=True)
class Form:
    """What a modal was filled with."""

    question: str
    context: str
    choice: Choice
    place: Place


def ask_view(desk: Desk, workspace: Workspace, said: Said) -> View:
    """Give the modal for a question in the place where it was opened, or in one to choose."""
    panels = {panel.name: panel for panel in _panels(desk, said.place)}
    default = desk.panel_name(said.place) or ""
    return form_view(panels, default, said, alone=workspace.may("im:write"))


def form_view(panels: Mapping[str, Panel], default: str, said: Said, *, alone: bool) -> View:
    """Give that modal with these panels; `alone` says whether a person can be answered alone."""
    blocks = [
        _input(QUESTION, "Question", _text(said.text)),
        _input(CONTEXT, "What it refers to", _text(said.context), optional=True),
        _input(PANEL, "Panel", _select(_described(panels), default)),
        *([] if said.place.channel else [_input(CHANNEL, "Channel", _CHANNELS, optional=True)]),
    ]
    audience = [(HERE, _everybody(said.place))]
    if alone:
        audience.append((ONLY_ME, "Only me: the answer comes as a direct message"))
    options = _options(audience)
    radio = {"type": "radio_buttons", "options": options, "initial_option": options[0]}
    blocks.append(_input(AUDIENCE, "Who may read it", radio))
    blocks.append(_note("Several models answer, rank each other without names, and one sums up."))
    return {
        "type": "modal",
        "callback_id": CALLBACK,
        "title": _plain("Ask the council"),
        "submit": _plain("Ask"),
        "close": _plain("Cancel"),
        "private_metadata": json.dumps([said.place.channel, said.place.thread]),
        "blocks": blocks,
    }


def _everybody(place: Place) -> str:
    if place.thread:
        return "Everybody in this thread"
    if place.channel.startswith("D"):
        return "Everybody in this conversation"
    return f"Everybody in {'this' if place.channel else 'the'} channel"


def field_of(error: CouncilError, view: View) -> str:
    """Give the field beside which an error is told."""
    has_channel = any(block["block_id"] == CHANNEL for block in view["blocks"])
    match error:
        case PanelError():
            return PANEL
        case UnwelcomeError() | NoPlaceError():
            return CHANNEL if has_channel else AUDIENCE
    return QUESTION


def read_form(view: View, team: str, own_channel: str) -> Form:
    """Read a modal that was sent; `own_channel` is the asker's direct messages with the bot.

    Raises NoPlaceError where none was chosen.
    """
    found = {
        block: next(iter(action.values())) for block, action in view["state"]["values"].items()
    }
    channel, thread = json.loads(view.get("private_metadata") or '["", null]')
    place = Place(CHAT, team, str(channel or _value(found, CHANNEL)), thread, private=True)
    if _value(found, AUDIENCE) == ONLY_ME:
        place = replace(place, channel=own_channel, thread=None)
    if not place.channel:
        raise NoPlaceError(NO_PLACE)
    panel = _value(found, PANEL) or None
    return Form(_value(found, QUESTION), _value(found, CONTEXT), Choice(panel), place)


def wants_own_channel(view: View) -> bool:
    """Say whether the answer is for the asker alone."""
    values = view["state"]["values"].get(AUDIENCE, {})
    return _value({AUDIENCE: next(iter(values.values()), {})}, AUDIENCE) == ONLY_ME


def _value(found: Mapping[str, Any], block: str) -> str:
    state = found.get(block) or {}
    option = (state.get("selected_option") or {}).get("value")
    return str(state.get("value") or option or state.get("selected_conversation") or "")


def _panels(desk: Desk, place: Place) -> list[Panel]:
    allowed = [panel for panel in desk.panels.values() if allows(desk.access, place, panel)]
    return allowed or [desk.panel(None, place)]  # which says why there is none


def _described(panels: Mapping[str, Panel]) -> list[tuple[str, str]]:
    described = [(name, f"{name}: goes to {receivers(panel)}") for name, panel in panels.items()]
    return described[:MOST_OPTIONS]


def _text(initial: str) -> dict[str, Any]:
    element: dict[str, Any] = {"type": "plain_text_input", "multiline": True, "max_length": INPUT}
    return element | ({"initial_value": initial[:INPUT]} if initial else {})


def _select(named: list[tuple[str, str]], default: str | None) -> dict[str, Any]:
    options = _options(named)
    initial = next((o for o in options if o["value"] == default), options[0])
    return {"type": "static_select", "options": options, "initial_option": initial}


def _options(named: list[tuple[str, str]]) -> list[dict[str, Any]]:
    return [{"text": _plain(shortened(label, OPTION)), "value": value} for value, label in named]


def _input(
    name: str, label: str, element: dict[str, Any], *, optional: bool = False
) -> dict[str, Any]:
    return {
        "type": "input",
        "block_id": name,
        "label": _plain(label),
        "element": {"action_id": name, **element},
        "optional": optional,
    }


def _note(text: str) -> dict[str, Any]:
    return {"type": "context", "elements": [_plain(text)]}


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": inert(text), "emoji": False}
