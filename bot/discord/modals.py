"""The modals: to ask about a message, say why a round was of no help, and add it to a suite."""

from collections.abc import Iterator, Sequence
from typing import Any

import discord
from discord.ui import Label, Modal, TextInput

from bot.render.text_safety import shortened

ASK, WHY, SUITE = "ask", "why", "suite"
QUESTION, CONTEXT, REASON = "question", "context", "reason"
NAME, ANSWER = "name", "answer"
FIELD, REASON_LENGTH, DESCRIPTION = 4000, 1000, 100  # characters that Discord, and the store, take


def ask_modal(message: discord.Message) -> Modal:
    """Give the modal for a question about a message, whose text can be seen and changed in it."""
    modal = Modal(title="Ask the council", custom_id=f"council:{ASK}:{message.id}")
    style = discord.TextStyle.paragraph
    question = TextInput[Modal](custom_id=QUESTION, style=style, max_length=FIELD)
    text = message.clean_content[:FIELD]
    context = TextInput[Modal](
        custom_id=CONTEXT, style=style, max_length=FIELD, default=text, required=False
    )
    told = "It is sent along, as it stands here."
    modal.add_item(Label(text="Question", component=question))
    modal.add_item(Label(text="What it refers to", description=told, component=context))
    return modal


def why_modal(round_id: str) -> Modal:
    """Give the modal that asks what was wrong."""
    modal = Modal(title="Not helpful", custom_id=f"council:{WHY}:{round_id}")
    reason = TextInput[Modal](
        custom_id=REASON,
        style=discord.TextStyle.paragraph,
        max_length=REASON_LENGTH,
        required=False,
    )
    modal.add_item(Label(text="What was wrong or missing?", component=reason))
    return modal


def suite_modal(round_id: str, names: Sequence[str]) -> Modal:
    """Give the modal that asks which suite a question joins; `names` are those there are."""
    modal = Modal(title="Add to suite", custom_id=f"council:{SUITE}:{round_id}")
    name = TextInput[Modal](custom_id=NAME, max_length=40, default=names[0] if names else None)
    answer = TextInput[Modal](custom_id=ANSWER, max_length=REASON_LENGTH, required=False)
    there = f"There are: {', '.join(names)}. " if names else "There is none yet. "
    told = shortened(f"{there}A new name makes a new one.", DESCRIPTION)
    known = "Left out, answers to it are ranked and not graded."
    modal.add_item(Label(text="Suite", description=told, component=name))
    modal.add_item(Label(text="The right answer", description=known, component=answer))
    return modal


def fields_of(components: list[dict[str, Any]]) -> dict[str, str]:
    """Give what a modal was filled with, by field."""
    return dict(_fields(components))


def _fields(components: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for component in components:
        inner = component.get("component")
        yield from _fields([*component.get("components", []), *([inner] if inner else [])])
        if "value" in component:
            yield str(component["custom_id"]), str(component["value"])
