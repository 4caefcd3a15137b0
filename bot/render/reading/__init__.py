"""Markdown by models and people, read once for every chat: what it says, whatever it asks for."""
