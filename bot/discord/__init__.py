"""Discord: Components V2 messages, made for narrow screens."""
