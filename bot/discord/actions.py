"""The modals: to ask about a message, say why a round was of no help, and add it to a suite."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Self

import discord
from discord.ui import Label, Modal, TextInput

from bot.chat import Chat, IncomingMessage
from bot.commands.buttons import (
    OTHER_VERSION,
    PRESSES,
    asked_back,
    confirmed,
    in_its_place,
    is_asked_about,
    opine,
    posts_of,
    readable_round,
)
from bot.commands.buttons import add_to_suite as add
from bot.commands.context import AppContext
from bot.commands.rounds import Opinion
from bot.commands.suites import SuiteAddition
from bot.render.text_safety import shortened
from council.errors import CouncilError

# --- The modals: to ask about a message, say why a round was of no help, and add it to a suite.

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


# --- What buttons do in Discord; they work whenever they are pressed, also after a restart.

SHOWN = ("answers", "ballots")


class Button(
    discord.ui.DynamicItem[discord.ui.Button[Any]],
    template=r"council:(?P<action>[a-z_]+):(?P<value>[^#]+)(#\d+)?",
):
    """Any button under a round, known by its custom id alone."""

    def __init__(self, action: str, value: str, custom_id: str) -> None:
        self.action = action
        self.value = value
        super().__init__(discord.ui.Button(label=action, custom_id=custom_id))

    @classmethod
    async def from_custom_id(
        cls, _: discord.Interaction[Any], item: discord.ui.Item[Any], match: re.Match[str]
    ) -> Self:
        """Read a pressed button."""
        return cls(match["action"], match["value"], match[0])

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        """Have the press heard."""
        await interaction.client.pressed(interaction, self.action, self.value)


async def press(
    app: AppContext, chat: Chat, said: IncomingMessage, action: str, value: str
) -> None:
    """Do what a button says, for the one who pressed it."""
    if action in SHOWN:
        round_ = await readable_round(app, said, value)
        for post in posts_of(round_, action):
            await chat.send_ephemeral(said, post)
    elif action in {"helpful", "unhelpful"}:
        await opine(app, chat, said, value, Opinion(action == "helpful"))
    elif is_asked_about(action):
        await chat.send_ephemeral(said, await asked_back(app, said, action, value))
    elif does := PRESSES.get(confirmed(action) or action):
        await does(app, chat, said, value)
    elif in_its_place(action) is None:
        raise CouncilError(OTHER_VERSION)


async def keep_reason(
    app: AppContext, chat: Chat, said: IncomingMessage, round_id: str, fields: dict[str, str]
) -> None:
    """Keep why a round was of no help."""
    await opine(app, chat, said, round_id, Opinion(helpful=False, reason=fields.get(REASON, "")))


async def add_to_suite(
    app: AppContext, chat: Chat, said: IncomingMessage, round_id: str, fields: dict[str, str]
) -> None:
    """Keep a round's question in the suite that was named."""
    await add(app, chat, said, round_id, SuiteAddition(fields[NAME], fields.get(ANSWER, "")))
