"""Rows of buttons; each carries what is done and to what, so that it works after a restart too."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bot.chat import Button
from bot.discord.limits import BUTTON_LABEL, CUSTOM_ID, ROW
from bot.discord.plain import inert
from bot.render.text_safety import shortened, shown_text

Component = dict[str, Any]  # a component as Discord's JSON has it

PREFIX = "council"
_ROW, _BUTTON = 1, 2
_SECONDARY, _DANGER = 2, 4
_DANGEROUS = {"cancel", "yes_cancel", "bakeoff_cancel"}
_OPINIONS = {"helpful", "unhelpful"}


@dataclass(frozen=True, slots=True)
class Press:
    """What a press asks for."""

    action: str
    value: str


def custom_id(button: Button) -> str:
    """Give what a press of the button is known by; one too long for Discord is an error of ours."""
    made = f"{PREFIX}:{button.action}:{button.value}"
    if len(made) > CUSTOM_ID or ":" in button.action:
        raise ValueError(f"a button cannot be known by {made!r}")
    return made


def press_of(custom_id: str) -> Press | None:
    """Give what a press is known by; None if the button is none of ours."""
    prefix, _, rest = custom_id.partition(":")
    action, parted, value = rest.partition(":")
    return Press(action, value) if prefix == PREFIX and parted and action else None


def button_rows(buttons: Sequence[Button]) -> Iterator[Component]:
    """Give the buttons in rows, opinions in one of their own; the same twice is shown once."""
    once = list({custom_id(button): button for button in buttons}.values())
    acts = [button for button in once if button.action not in _OPINIONS]
    opinions = [button for button in once if button.action in _OPINIONS]
    for group in (acts, opinions):
        for at in range(0, len(group), ROW):
            yield {"type": _ROW, "components": list(map(_button, group[at : at + ROW]))}


def _button(button: Button) -> Component:
    return {
        "type": _BUTTON,
        "style": _DANGER if button.action in _DANGEROUS else _SECONDARY,
        "label": shortened(inert(" ".join(shown_text(button.label).split())), BUTTON_LABEL)
        or button.action,
        "custom_id": custom_id(button),
    }
