"""Renderers: rounds, leaderboards and reports as posts, JSON, CSV and charts for every chat."""
