"""Rows of buttons; each carries an opaque id, and what cannot be undone is asked about first."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from slack_sdk.models.blocks import (
    ActionsBlock,
    ButtonElement,
    ConfirmObject,
    ContextActionsBlock,
    FeedbackButtonObject,
    FeedbackButtonsElement,
    PlainTextObject,
)

from bot.chat import Button
from bot.render.text_safety import shortened
from bot.slack.limits import ACTIONS, BUTTON_LABEL
from bot.slack.plain import one_line
from bot.slack.rich import Block

FEEDBACK = "council:feedback"
_OPINIONS = ("helpful", "unhelpful")
_CONFIRMED = {
    "bakeoff_cancel": (
        "Stop this bake-off?",
        "What has been answered and ranked so far is kept; the rest is not asked.",
    ),
    "again": ("Run again?", "The whole council is asked once more, and that costs as much again."),
    "cancel": ("Stop this round?", "What has been answered so far is kept; the rest is not asked."),
}
_DANGEROUS = {"cancel", "bakeoff_cancel"}


def action_id(action: str) -> str:
    """Give what a press of this action is known by."""
    return f"council:{action}"


def action_of(action_id: str) -> str:
    """Give the action that a press is known by; the inverse of `action_id`, and of `distinct`."""
    return action_id.removeprefix("council:").partition("#")[0]


def distinct(blocks: Iterable[Block]) -> list[Block]:
    """Give the blocks with no action id twice: the second `council:open` is `council:open#2`."""
    seen = Counter[str]()
    return [
        block | {"elements": [_numbered(e, seen) for e in block["elements"]]}
        if block["type"] in {"actions", "context_actions"}
        else block
        for block in blocks
    ]


def _numbered(element: Block, seen: Counter[str]) -> Block:
    name = element["action_id"].partition("#")[0]
    seen[name] += 1
    return element | {"action_id": name if seen[name] == 1 else f"{name}#{seen[name]}"}


def button_blocks(buttons: Sequence[Button], *, feedback: bool) -> Iterator[Block]:
    """Give the rows of buttons; thumbs for the opinions where Slack's own may be used."""
    thumbs = _thumbs(buttons) if feedback else None
    plain = [b for b in buttons if not (thumbs and b.action in _OPINIONS)]
    for at in range(0, len(plain), ACTIONS):
        row = [_button(button) for button in plain[at : at + ACTIONS]]
        yield ActionsBlock(elements=row).to_dict()
    if thumbs:
        yield thumbs


def _button(button: Button) -> ButtonElement:
    return ButtonElement(
        text=_label(button),
        action_id=action_id(button.action),
        value=button.value,
        style="danger" if button.action in _DANGEROUS else None,
        confirm=_confirm(button),
    )


def _confirm(button: Button) -> ConfirmObject | None:
    if button.action not in _CONFIRMED:
        return None
    title, words = _CONFIRMED[button.action]
    return ConfirmObject(
        title=title,
        text=PlainTextObject(text=words),
        confirm=shortened(one_line(button.label), 30),
        deny="Back",
    )


def _thumbs(buttons: Sequence[Button]) -> Block | None:
    """Give both opinions as one element; None unless there is exactly one of each."""
    found = {button.action: button for button in buttons if button.action in _OPINIONS}
    if len(found) != len(_OPINIONS) or sum(b.action in _OPINIONS for b in buttons) != len(found):
        return None
    good, bad = (
        FeedbackButtonObject(
            text=_label(found[opinion]),
            accessibility_label=_label(found[opinion]),
            value=f"{opinion}:{found[opinion].value}",
        )
        for opinion in _OPINIONS
    )
    element = FeedbackButtonsElement(action_id=FEEDBACK, positive_button=good, negative_button=bad)
    return ContextActionsBlock(elements=[element]).to_dict()


def _label(button: Button) -> str:
    return shortened(one_line(button.label), BUTTON_LABEL) or button.action
