"""Command handlers, shared by all chats."""
