"""Slack: posts as Block Kit messages and modals."""
