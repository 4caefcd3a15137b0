"""The plug-in of Discord."""

from council.plugin import Plugin

PLUGIN = Plugin(name="discord", summary="Ask the council in Discord.")
