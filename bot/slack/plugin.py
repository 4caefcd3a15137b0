"""The plug-in of Slack."""

from council.plugin import Plugin

PLUGIN = Plugin(name="slack", summary="Ask the council in Slack.")
