"""Rounds as rows and back. Knows the council's values, and no chat."""
