"""Gateways to models. Each implements `council.ports.Gateway`; only the bot imports them."""
