"""The bot: chats, commands, settings and the command line round the council."""
