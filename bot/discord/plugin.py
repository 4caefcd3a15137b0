"""The plug-in of Discord."""

from council.plugin import Plugin

PLUGIN = Plugin(
    name="discord",
    summary="Ask the council in Discord.",
    chats={"discord": "bot.discord.chat_plugin:DISCORD"},
    cli={"discord": ("bot.discord.cli:discord_app", "Set up the Discord application.")},
    stores=("bot.discord.shards:open_queues",),
)
