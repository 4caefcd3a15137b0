"""Bake-offs in the bot: held, gone on with, told of."""
