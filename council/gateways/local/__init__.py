"""The models that install with the product: found, fetched, verified and served on loopback.

Knows no panel and no round; only `bot.wiring` imports it.
"""
