"""Demonstration models that run on this machine: download, server and gateway.

Knows no panel and no round; only the bot imports it.
"""
