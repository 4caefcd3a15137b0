"""Slack: Bolt listeners, Block Kit messages and modals, and the Web API client."""
