"""Bake-offs in the bot: run, resume and post them, and query leaderboards."""
