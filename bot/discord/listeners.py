"""Listeners of Discord: events, slash commands, autocomplete, mentions, buttons and modals."""

import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any

import discord
import structlog
from discord import MessageType

from bot.access import check_admitted
from bot.chat import Chat, IncomingMessage, SendEphemeral, send_note
from bot.commands.ask import PRIVATE, AskOptions, ask_with_options
from bot.commands.ask_form import (
    AUDIENCE,
    CONTEXT,
    ONLY_ME,
    PANEL,
    QUESTION,
    AskPlace,
    ask_form,
    chosen_reveal,
)
from bot.commands.button_registry import buttons_of, submit_form
from bot.commands.buttons import ActionDeduplicator, rate_round, send_busy_note
from bot.commands.completion import suggest
from bot.commands.conversations import continue_conversation, load_conversation
from bot.commands.dispatch import Handler, report_errors, run_command
from bot.commands.help import ASK_FORM, example_of
from bot.commands.parameters import NOTHING_GIVEN, Arguments, Parameter, Suggestion
from bot.commands.registry import ASK, Command, Invocation, Typo, commands_of, is_question
from bot.commands.rounds import (
    Opinion,
    context_of,
    find_round_of_message,
    load_readable_round,
    load_thread_rounds,
    quoted_ids,
)
from bot.commands.thread_context import recall_people, replace_mentions
from bot.context import AppContext
from bot.coordination.tasks import BackgroundTasks
from bot.discord import actions, modals
from bot.discord.command_mentions import CommandMentions
from bot.discord.components import MENU, MentionCommands
from bot.discord.ephemeral import (
    EphemeralReplies,
    MessageReplies,
    defer,
    defer_page,
    replace_message,
)
from bot.discord.events import (
    check_can_post,
    direct_place,
    is_outside,
    parse_attachment,
    parse_interaction,
    parse_message,
)
from bot.discord.messages import ClientState, DiscordChat
from bot.discord.servers import ServerTracker
from bot.discord.slash_commands import ADMIN, COUNCIL, CommandTree, add_commands, option_values
from bot.discord.threads import (
    MentionedPeople,
    ask_in_thread,
    marked_question,
    remember_people_of,
    without_names,
)
from bot.discord.user_installs import OutsideChat, OutsideReplies, as_direct
from bot.render.voting import BEST
from council.errors import CouncilError

ASKED_PRIVATELY = "The answer comes in our direct messages."
COMMANDS_MEMO, COMMAND_IDS_MEMO = "discord commands", "discord command ids"  # kinds of memos
# For direct messages, mentions and replies in threads; none of these intents is privileged.

Interaction = discord.Interaction[Any]


class DiscordClient(discord.Client):
    """The bot in the guilds of one shard: listeners, the slow ones of which continue in `tasks`."""

    def __init__(self, app: AppContext, tasks: BackgroundTasks, servers: ServerTracker) -> None:
        super().__init__(
            shard_id=servers.shard.number,
            shard_count=servers.shard.of,
            intents=discord.Intents(guilds=True, guild_messages=True, dm_messages=True),
            allowed_mentions=discord.AllowedMentions.none(),
            max_messages=None,
            chunk_guilds_at_startup=False,
            guild_ready_timeout=0.5,
            member_cache_flags=discord.MemberCacheFlags.none(),
        )
        self._app = app
        self._tasks = tasks
        self._servers = servers
        self._state = ClientState()
        self._deduplicator = ActionDeduplicator(app)
        self.mention_commands: MentionCommands = str
        self.tree = CommandTree(self)
        commands = commands_of(app).commands
        add_commands(self.tree, commands, self.on_command, self.on_ask_about, self.suggest)

    async def setup_hook(self) -> None:
        """Register the buttons, and the commands if they have changed."""
        self.add_dynamic_items(actions.Button)
        commands = [command.to_dict(self.tree) for command in self.tree.get_commands()]
        content = json.dumps([self.application_id, commands], sort_keys=True, default=str)
        digest = sha256(content.encode()).hexdigest()
        application, memos = str(self.application_id), self._app.key_values
        if await memos.read(COMMANDS_MEMO, application) != digest:
            ids = {one.name: str(one.id) for one in await self.tree.sync()}
            await memos.put(COMMAND_IDS_MEMO, application, json.dumps(ids))
            await memos.put(COMMANDS_MEMO, application, digest)
        ids = json.loads(await memos.read(COMMAND_IDS_MEMO, application) or "{}")
        mentions = CommandMentions(commands_of(self._app).commands, ids, (COUNCIL, ADMIN))
        self.mention_commands = mentions.render

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Dispatch an event, unless the client is closed: discord.py dispatches some afterwards."""
        if not self.is_closed():
            super().dispatch(event, *args, **kwargs)

    async def on_ready(self) -> None:
        """Sync the servers, at the start and after each new session."""
        await self._servers.sync(self)

    async def on_guild_join(self, _: discord.Guild) -> None:
        """Sync the servers after an invitation."""
        await self._servers.sync(self)

    async def on_guild_remove(self, guild: discord.Guild) -> None:
        """Handle a removal from a server, or its deletion; an outage is another event."""
        await self._servers.on_removed(self, guild)

    async def on_interaction(self, interaction: Interaction) -> None:
        """Handle a submitted modal or a menu: discord.py does not know those of an earlier run."""
        data: Any = interaction.data or {}
        custom_id = str(data.get("custom_id", ""))
        if interaction.type is discord.InteractionType.modal_submit:
            fields = modals.submitted_fields(data["components"])
            await self._on_modal_submit(interaction, custom_id, fields)
        elif custom_id.startswith(MENU):
            action, (value, *_) = custom_id.removeprefix(MENU), data["values"]
            await self.on_button(interaction, action, value)

    async def on_error(self, event: str, /, *_: object, **__: object) -> None:
        """Log an unexpected error; the command's own handler has told the user."""
        structlog.get_logger().exception("discord_event_failed", event=event)

    def chat(self, send_ephemeral: SendEphemeral, *, accepts_files: bool = True) -> DiscordChat:
        """Return a chat adapter that replies to one user by `send_ephemeral`."""
        return DiscordChat(
            self,
            self._state,
            send_ephemeral,
            accepts_files=accepts_files,
            mention_commands=self.mention_commands,
        )

    async def on_command(self, interaction: Interaction, command: Command) -> None:
        """Run a command with the options of an interaction."""
        arguments, files = option_values(interaction, command)
        if command.name == ASK and not files and arguments.keys() <= {PANEL, PRIVATE}:
            await self._open_ask_form(interaction, given=arguments)
            return
        if command.form and not arguments and not files:
            await self._open_form(interaction, command.form.action, command.form.value)
            return
        asks = command.name == ASK and PRIVATE not in arguments
        await self._defer(interaction, asks=asks)

        async def run(chat: Chat, incoming: IncomingMessage) -> None:
            invocation = Invocation(command, arguments)
            incoming = replace(incoming, files=tuple(map(parse_attachment, files)))
            if command.name == ASK:
                given = arguments.get(PANEL, "")
                is_private = PRIVATE in arguments
                incoming, panel = await self._prepare_ask(
                    interaction, incoming, given, is_private=is_private
                )
                question = replace(incoming, text=arguments.get(QUESTION, ""))
                incoming = await self._without_names(interaction, question)
                chosen = {QUESTION: incoming.text, **({PANEL: panel} if panel else {})}
                invocation = replace(invocation, arguments={**arguments, **chosen})
            if PRIVATE in arguments and not is_outside(interaction):
                await send_note(chat, incoming, ASKED_PRIVATELY)
            await run_command(self._app, chat, incoming, invocation)

        await self._begin(interaction, run, asks=asks)

    async def _prepare_ask(
        self, interaction: Interaction, incoming: IncomingMessage, panel: str, *, is_private: bool
    ) -> tuple[IncomingMessage, str]:
        """Return a question as it is asked, and its panel; a private one is a direct message."""
        check_admitted(self._app.access, incoming)
        if not is_private or is_outside(interaction):
            check_can_post(interaction)
            return incoming, panel
        # The answer goes to another place; the panel is still that of this one.
        panel = self._app.panel(panel or None, incoming.place).name
        place = await direct_place(interaction.user)
        return replace(incoming, place=place, is_direct=True), panel

    async def _without_names(
        self, interaction: Interaction, incoming: IncomingMessage, others: Iterable[str] = ()
    ) -> IncomingMessage:
        people = MentionedPeople(self, None if is_outside(interaction) else interaction.guild)
        return await without_names(self._app, incoming, people, others=others)

    async def suggest(
        self, interaction: Interaction, parameter: Parameter, typed: str
    ) -> list[Suggestion]:
        """Return suggestions for the value of a parameter, for autocomplete."""
        given = {name: value for name, value in interaction.namespace if isinstance(value, str)}
        try:
            incoming = await self._parse(interaction)
        except CouncilError:
            return []
        return await suggest(self._app, incoming, parameter, typed, given)

    async def _on_modal_submit(
        self, interaction: Interaction, custom_id: str, fields: dict[str, str]
    ) -> None:
        kind, _, value = custom_id.removeprefix("council:").partition(":")
        await self._defer(interaction, asks=kind == modals.ASK)

        async def submit(chat: Chat, incoming: IncomingMessage) -> None:
            if kind == modals.WHY:
                opinion = Opinion(helpful=False, reason=fields.get(modals.REASON, ""))
                await rate_round(self._app, chat, incoming, value, opinion)
                return
            files = tuple(map(parse_attachment, modals.submitted_files(interaction)))
            incoming = replace(incoming, files=files)
            if kind != modals.ASK:
                await submit_form(self._app, chat, incoming, kind, value, fields)
                return
            named = await recall_people(self._app, incoming.place, value)
            is_private = fields.get(AUDIENCE) == ONLY_ME
            incoming, panel = await self._prepare_ask(
                interaction, incoming, fields.get(PANEL, ""), is_private=is_private
            )
            if is_private:
                await send_note(chat, incoming, ASKED_PRIVATELY)
            question, context = fields[QUESTION], fields.get(CONTEXT, "")
            asked = replace(incoming, text=question, context=context)
            asked = await self._without_names(interaction, asked, named)
            reveal = chosen_reveal(fields.get(AUDIENCE, ""))
            options = AskOptions(panel or None, votes_first=reveal)
            await ask_with_options(self._app, chat, asked, options)

        await self._begin(interaction, submit, asks=kind == modals.ASK)

    async def on_button(self, interaction: Interaction, action: str, value: str) -> None:
        """Handle a pressed button."""
        known = buttons_of(self._app)
        if action == ASK_FORM:
            await self._open_ask_form(interaction, example_of(value))
            return
        if action in known.forms:
            await self._open_form(interaction, action, value)
            return
        is_page_turn = action.endswith(actions.PAGE_TURN)
        if action == "unhelpful":
            if not await self._open_why_form(interaction, value):
                return
        elif replacement := known.replacement_post(action):
            await replace_message(interaction, replacement)
        elif is_page_turn or action == BEST:
            await defer_page(interaction)
        else:
            await defer(interaction)

        async def press(chat: Chat, incoming: IncomingMessage) -> None:
            action_key = (incoming.asker.id, incoming.place.channel, action, value)
            handle = partial(actions.handle_button, self._app, chat, incoming, action, value)
            has_effect = known.handler(action) is not None
            if is_page_turn:  # a second press shows the same page
                await handle()
            elif not await self._deduplicator.do(action_key, handle, everywhere=has_effect):
                await send_busy_note(chat, incoming)

        await self._begin(interaction, press)

    async def _open_form(self, interaction: Interaction, action: str, value: str) -> None:
        """Open the modal of a plug-in's form."""
        form = buttons_of(self._app).forms[action]

        async def make(incoming: IncomingMessage) -> discord.ui.Modal:
            return modals.form_modal(await form.open(self._app, incoming, value), action, value)

        await self._open_modal(interaction, make)

    async def on_ask_about(self, interaction: Interaction, message: discord.Message) -> None:
        """Open the modal to ask in, about a message."""
        await self._open_ask_form(interaction, about=message)

    async def _open_ask_form(
        self,
        interaction: Interaction,
        question: str = "",
        *,
        given: Arguments = NOTHING_GIVEN,
        about: discord.Message | None = None,
    ) -> None:
        """Open the modal to ask in."""

        async def make(incoming: IncomingMessage) -> discord.ui.Modal:
            check_admitted(self._app.access, incoming)
            check_can_post(interaction)
            context, number = (about.clean_content, about.id) if about else ("", 0)
            if about:
                await remember_people_of(self._app, incoming.place, about, self.user)
            incoming = replace(incoming, text=question, context=context)
            form = await ask_form(self._app, incoming, ask_place(interaction), given)
            return modals.form_modal(form, modals.ASK, str(number))

        await self._open_modal(interaction, make)

    async def _open_why_form(self, interaction: Interaction, round_id: str) -> bool:
        """Open the modal that asks why a round did not help; return whether it opened."""

        async def make(incoming: IncomingMessage) -> discord.ui.Modal:
            await load_readable_round(self._app, incoming, round_id)
            return modals.why_modal(round_id)

        return await self._open_modal(interaction, make)

    async def _open_modal(
        self,
        interaction: Interaction,
        make: Callable[[IncomingMessage], Awaitable[discord.ui.Modal]],
    ) -> bool:
        """Open a modal, within Discord's three seconds, or reply why not; return whether it opened.

        That is how somebody who may not submit it is refused before they fill it in.
        """
        try:
            modal = await make(await self._parse(interaction))
        except CouncilError as error:
            why = error
        else:
            await interaction.response.send_modal(modal)
            return True

        async def refuse(_: Chat, __: IncomingMessage) -> None:
            raise why

        await defer(interaction)
        await self._begin(interaction, refuse)
        return False

    async def on_message(self, message: discord.Message) -> None:
        """Handle a direct message, a mention, or a reply in the thread of a round."""
        bot, is_written = self.user, message.type in {MessageType.default, MessageType.reply}
        if message.author.bot or bot is None or not is_written:
            return
        if message.guild and bot not in message.mentions:
            return
        name = next((user.display_name for user in message.mentions if user == bot), bot.name)
        text = message.clean_content.replace(f"@{name}", "", 1).strip()
        files = tuple(map(parse_attachment, message.attachments))
        incoming = replace(
            parse_message(message), text=text or "help", files=files, is_visible=True
        )
        self._state.names[incoming.asker.id] = incoming.asker.name
        chat = self.chat(MessageReplies(message, self.mention_commands))
        chat.replies_privately = message.guild is None
        handled = self._handle_message(chat, incoming, message)
        self._tasks.start(report_errors(chat, incoming, handled))

    async def _handle_message(
        self, chat: Chat, incoming: IncomingMessage, message: discord.Message
    ) -> None:
        bot, parsed = self.user, commands_of(self._app).parse(incoming.text)
        await self._app.reload_settings(incoming.place)
        is_about_more = incoming.place.thread or message.reference or len(message.mentions) > 1
        if bot and message.guild and is_about_more and is_question(parsed):
            await ask_in_thread(self._app, chat, incoming, message, bot)
            return
        root = incoming.place.thread or ""
        if message.reference and message.reference.message_id and not root:
            root = str(message.reference.message_id)
        rounds = await load_thread_rounds(self._app, incoming.place)
        if not rounds and (first := await find_round_of_message(self._app, incoming.place, root)):
            rounds = (first,)
        is_own = message.guild is None and is_question(parsed)
        if bot and (is_own or isinstance(parsed, Typo)):
            before = rounds
            if message.guild is None and not rounds:
                before = await load_conversation(self._app, incoming.place, incoming.asker.id)
            people = MentionedPeople(self, message.guild, message.mentions)
            marked = replace(incoming, text=marked_question(message, people.our_id))
            incoming = await replace_mentions(self._app, marked, people, before)
            parsed = commands_of(self._app).parse(incoming.text)
        if rounds:
            incoming = replace(incoming, context=context_of(rounds), quotes=quoted_ids(rounds))
        incoming = await continue_conversation(self._app, incoming)
        await run_command(self._app, chat, incoming, parsed)

    async def _defer(self, interaction: Interaction, *, asks: bool) -> None:
        """Acknowledge a command; where the bot is no member, publicly if it asks a question."""
        await defer(interaction, is_public=asks and is_outside(interaction))

    async def _parse(self, interaction: Interaction) -> IncomingMessage:
        incoming = parse_interaction(interaction)
        if is_outside(interaction):
            incoming = await as_direct(interaction, incoming)
        await self._app.reload_settings(incoming.place)
        return incoming

    async def _begin(self, interaction: Interaction, act: Handler, *, asks: bool = False) -> None:
        incoming = parse_interaction(interaction)
        self._state.names[incoming.asker.id] = incoming.asker.name
        replies = EphemeralReplies(interaction, self.mention_commands)
        chat = self.chat(replies, accepts_files=interaction.app_permissions.attach_files)
        if is_outside(interaction):
            replies = OutsideReplies(interaction, self.mention_commands, incoming, is_public=asks)
            chat = OutsideChat(self, self._state, interaction, replies)

        async def run() -> None:
            await act(chat, await self._parse(interaction))

        async def report() -> None:
            await report_errors(chat, incoming, run())
            await replies.end()

        self._tasks.start(report())


def ask_place(interaction: Interaction) -> AskPlace:
    """Return what a place offers: more than an answer where the bot itself posts for everybody."""
    in_thread = isinstance(interaction.channel, discord.Thread)
    is_ours = interaction.guild_id is not None and not is_outside(interaction)
    everybody = f"Everybody in this {'thread' if in_thread else 'channel'}"
    return AskPlace(everybody, has_private_answers=is_ours, has_voters=is_ours)
