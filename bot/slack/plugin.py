"""The plug-in of Slack."""

from council.plugin import Plugin

PLUGIN = Plugin(
    name="slack",
    summary="Ask the council in Slack.",
    chats={"slack": "bot.slack.chat_plugin:SLACK"},
    cli={"slack": ("bot.slack.cli:slack_app", "Set up the Slack app.")},
    checks=("bot.slack.chat_plugin:check_installations",),
    stores=("bot.slack.config:open_stores",),
)
