"""Subcommands of `council` about bake-offs."""
