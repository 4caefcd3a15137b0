"""The web page of the bot, on Starlette: pages, forms, server-sent events, downloads."""
