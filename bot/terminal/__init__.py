"""The terminal chat: the same commands as everywhere, for one person at a keyboard."""
