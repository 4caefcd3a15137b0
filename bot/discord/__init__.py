"""Discord, on discord.py: messages in Components V2, laid out for narrow screens."""
