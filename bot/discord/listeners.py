"""What reaches us from Discord, and what each of it sets going."""

import json
from contextlib import suppress
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any

import discord
import structlog
from discord import app_commands
from discord.app_commands import Choice

from bot.access import AccessDeniedError, admitted, allows, listable
from bot.chat import Chat, IncomingMessage, SendEphemeral
from bot.commands import rounds as following
from bot.commands.ask import AskOptions as Chosen
from bot.commands.ask import asked
from bot.commands.buttons import (
    OTHER_VERSION,
    PRESSES,
    ActionDeduplicator,
    check_may_add,
    confirmed,
    in_its_place,
    tell_busy,
)
from bot.commands.context import AppContext
from bot.commands.dispatch import COMMANDS, Act, handle_message, reporting_errors, run_command
from bot.commands.registry import Command, Invocation
from bot.coordination.tasks import BackgroundTasks
from bot.discord import actions as modals
from bot.discord import actions as presses
from bot.discord.actions import Button, fields_of
from bot.discord.errors import EditRateLimiter, told
from bot.discord.events import CHAT, attached, check_welcome, said_by, said_in, text_of
from bot.discord.messages import DiscordChat, EphemeralReplies, MessageReplies, replaced, thinking
from bot.discord.servers import Servers, ServerStore, Shard
from bot.discord.slash_commands import AskFields, CommandHandlers, choices, plant
from council.errors import CouncilError
from council.places import Place

# --- What reaches us from Discord, and what each of it sets going.

MOST_SUGGESTED_FROM = 100  # of the newest rounds

Interaction = discord.Interaction[Any]


class DiscordListeners:
    """Hears every guild the bot is in; what takes longer than an answer goes on in `doing`."""

    def __init__(self, app: AppContext, client: discord.Client, doing: BackgroundTasks) -> None:
        self._app = app
        self._client = client
        self._doing = doing
        self._names: dict[str, str] = {}
        self._edits = EditRateLimiter()
        self._once = ActionDeduplicator(app)

    @property
    def deeds(self) -> CommandHandlers:
        """Give what commands do."""
        return CommandHandlers(self.ask, self.about, self.do, self.take, self.panels, self.rounds)

    def chat(self, whisper: SendEphemeral, *, keeps_files: bool = True) -> DiscordChat:
        """Give the chat for one who spoke."""
        shared = (self._client, self._names, self._edits)
        return DiscordChat(*shared, whisper, keeps_files=keeps_files)

    async def ask(self, interaction: Interaction, question: AskFields) -> None:
        """Hear `/council ask`."""
        await thinking(interaction)

        async def act(chat: Chat, said: IncomingMessage) -> None:
            admitted(self._app.access, said)
            chosen = Chosen(question.panel)
            if question.private:
                # Told elsewhere, it is still asked here, by what goes here.
                await self._app.look_up(said.place)
                chosen = Chosen(self._app.panel(question.panel, said.place).name)
                said = replace(said, place=await self._own_place(interaction), is_direct=True)
            else:
                check_welcome(interaction)
            context = await text_of(question.attachment) if question.attachment else ""
            said = replace(said, text=question.text, context=context)
            await asked(self._app, chat, said, chosen)

        await self._begin(interaction, act)

    async def do(self, interaction: Interaction, command: Command, argument: str) -> None:
        """Hear any other command."""
        await thinking(interaction)

        async def act(chat: Chat, said: IncomingMessage) -> None:
            await run_command(self._app, chat, said, Invocation(command, argument))

        await self._begin(interaction, act)

    async def take(
        self,
        interaction: Interaction,
        command: Command,
        argument: str,
        attachment: discord.Attachment | None,
    ) -> None:
        """Hear a command that a file may come with."""
        await thinking(interaction)

        async def act(chat: Chat, said: IncomingMessage) -> None:
            said = replace(said, files=attached([attachment] if attachment else []))
            await run_command(self._app, chat, said, Invocation(command, argument))

        await self._begin(interaction, act)

    async def about(self, interaction: Interaction, message: discord.Message) -> None:
        """Open the modal to ask about a message."""
        await interaction.response.send_modal(modals.ask_modal(message))

    async def submitted(
        self, interaction: Interaction, custom_id: str, fields: dict[str, str]
    ) -> None:
        """Hear a modal; it is read from what Discord sends, so that a restart loses none."""
        await thinking(interaction)
        kind, _, value = custom_id.removeprefix("council:").partition(":")

        async def act(chat: Chat, said: IncomingMessage) -> None:
            if kind == modals.WHY:
                await presses.keep_reason(self._app, chat, said, value, fields)
                return
            if kind == modals.SUITE:
                await presses.add_to_suite(self._app, chat, said, value, fields)
                return
            if kind != modals.ASK:
                raise CouncilError(OTHER_VERSION)
            check_welcome(interaction)
            question, context = fields[modals.QUESTION], fields.get(modals.CONTEXT, "")
            await asked(self._app, chat, replace(said, text=question, context=context))

        await self._begin(interaction, act)

    async def pressed(self, interaction: Interaction, action: str, value: str) -> None:
        """Hear a button."""
        if action == "suite":
            await self._asked_which_suite(interaction, value)
            return
        if action == "unhelpful":
            await interaction.response.send_modal(modals.why_modal(value))
        elif answered := in_its_place(action):
            await replaced(interaction, answered)
        else:
            await thinking(interaction)

        async def act(chat: Chat, said: IncomingMessage) -> None:
            does = (said.asker.id, said.place.channel, action, value)
            press = partial(presses.press, self._app, chat, said, action, value)
            costs = (confirmed(action) or action) in PRESSES
            if not await self._once.do(does, press, everywhere=costs):
                await tell_busy(chat, said)

        await self._begin(interaction, act)

    async def _asked_which_suite(self, interaction: Interaction, round_id: str) -> None:
        """Open the modal for a round's question, at once: Discord waits for three seconds."""
        said, names = said_by(interaction), list[str]()
        with suppress(CouncilError):  # who may add nothing is told when the modal is sent
            check_may_add(self._app, said)
            lines = await self._app.bakeoff_stores.suites.lines(said.place.scope)
            names = [line.name for line in lines]
        await interaction.response.send_modal(modals.suite_modal(round_id, names))

    async def message(self, message: discord.Message) -> None:
        """Hear a direct message, a mention, or a reply in the council's thread."""
        us = self._client.user
        if message.author.bot or us is None or message.type not in _WORDS:
            return
        if message.guild and us not in message.mentions:
            return
        called = next((user.display_name for user in message.mentions if user == us), us.name)
        text = message.clean_content.replace(f"@{called}", "", 1).strip()
        said = replace(said_in(message, text or "help"), files=attached(message.attachments))
        self._names[said.asker.id] = said.asker.name
        chat = self.chat(MessageReplies(message))
        self._doing.begin(reporting_errors(chat, said, self._heard(chat, said, message)))

    async def _heard(self, chat: Chat, said: IncomingMessage, message: discord.Message) -> None:
        moment = said.place.thread or ""
        if message.reference and message.reference.message_id and not moment:
            moment = str(message.reference.message_id)
        before = await following.rounds_of_thread(self._app, said.place)
        if not before and (first := await following.round_at(self._app, said.place, moment)):
            before = (first,)
        if before:
            said = replace(said, context=following.context_of(before))
        await handle_message(self._app, chat, said)

    async def panels(self, interaction: Interaction, typed: str) -> list[Choice[str]]:
        """Suggest panels that may be used here."""
        place, access = said_by(interaction).place, self._app.access
        panels = self._app.panels.items()
        names = [name for name, panel in panels if allows(access, place, panel)]
        return choices((name, name) for name in names if typed.lower() in name.lower())

    async def rounds(self, interaction: Interaction, typed: str) -> list[Choice[str]]:
        """Suggest rounds that may be read here, by question or id."""
        said = said_by(interaction)
        try:
            admitted(self._app.access, said)
        except AccessDeniedError:
            return []
        lines = await self._app.store.recent(MOST_SUGGESTED_FROM, listable(said))
        wanted = typed.lower()
        found = [
            line for line in lines if wanted in line.question.lower() or line.id.startswith(wanted)
        ]
        return choices((f"{line.question or 'forgotten'} · {line.id}", line.id) for line in found)

    async def _own_place(self, interaction: Interaction) -> Place:
        with told():
            channel = await interaction.user.create_dm()
        return Place(CHAT, "", str(channel.id), private=True)

    async def _begin(self, interaction: Interaction, act: Act) -> None:
        said, whispers = said_by(interaction), EphemeralReplies(interaction)
        self._names[said.asker.id] = said.asker.name
        chat = self.chat(whispers, keeps_files=interaction.app_permissions.attach_files)

        async def done() -> None:
            await reporting_errors(chat, said, act(chat, said))
            await whispers.end()

        self._doing.begin(done())


_WORDS = {discord.MessageType.default, discord.MessageType.reply}


# --- The client: events in, commands registered when they have changed.

# Messages are heard for replies in a thread and direct messages; none of these is privileged.
INTENTS = discord.Intents(guilds=True, guild_messages=True, dm_messages=True)

READY_SECONDS = 0.5  # without a further guild, until all are taken to be there


class Client(discord.Client):
    """One bot in the guilds of one shard; what is `kept` tells which commands are registered."""

    def __init__(
        self,
        app: AppContext,
        doing: BackgroundTasks,
        servers: Servers,
        kept: ServerStore,
        shard: Shard | None = None,
    ) -> None:
        super().__init__(
            shard_id=shard.number if shard else None,
            shard_count=shard.of if shard else None,
            intents=INTENTS,
            allowed_mentions=discord.AllowedMentions.none(),
            max_messages=None,
            chunk_guilds_at_startup=False,
            guild_ready_timeout=READY_SECONDS,
            member_cache_flags=discord.MemberCacheFlags.none(),
        )
        self.ears = DiscordListeners(app, self, doing)
        self._servers = servers
        self._kept = kept
        self.tree = app_commands.CommandTree(self)
        plant(self.tree, COMMANDS.commands, self.ears.deeds)

    async def setup_hook(self) -> None:
        """Have buttons heard, and commands registered if they have changed."""
        self.add_dynamic_items(Button)
        application, digest = str(self.application_id), self._digest()
        if await self._kept.commands(application) != digest:
            await self.tree.sync()
            await self._kept.register(application, digest)

    def dispatch(self, event: str, /, *of: Any, **named: Any) -> None:  # noqa: ANN401
        """Hear an event; after its end the library still tells some, and has no loop for them."""
        if not self.is_closed():
            super().dispatch(event, *of, **named)

    def _digest(self) -> str:
        """Tell these commands, of this bot, from any other."""
        commands = [command.to_dict(self.tree) for command in self.tree.get_commands()]
        told = json.dumps([self.application_id, commands], sort_keys=True, default=str)
        return sha256(told.encode()).hexdigest()

    async def on_ready(self) -> None:
        """Hear in which guilds it is: now, and whenever Discord says so anew."""
        await self._servers.latest(self)

    async def on_guild_join(self, _: discord.Guild) -> None:
        """Hear that it was invited."""
        await self._servers.latest(self)

    async def on_guild_remove(self, guild: discord.Guild) -> None:
        """Hear that it was removed, or the guild deleted; an outage is another event."""
        await self._servers.removed(self, guild)

    async def pressed(self, interaction: discord.Interaction[Any], action: str, value: str) -> None:
        """Hear a button."""
        await self.ears.pressed(interaction, action, value)

    async def on_interaction(self, interaction: discord.Interaction[Any]) -> None:
        """Hear a modal: the library itself forgets those of before a restart."""
        data: Any = interaction.data or {}
        custom_id = str(data.get("custom_id", ""))
        if interaction.type is discord.InteractionType.modal_submit:
            await self.ears.submitted(interaction, custom_id, fields_of(data["components"]))

    async def on_message(self, message: discord.Message) -> None:
        """Hear a message."""
        await self.ears.message(message)

    async def on_error(self, event: str, /, *_: object, **__: object) -> None:
        """Note what nobody foresaw; whoever waits is told by the command's own handler."""
        structlog.get_logger().exception("discord_event_failed", event=event)
