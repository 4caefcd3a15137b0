"""The HTTP side of the bot."""
