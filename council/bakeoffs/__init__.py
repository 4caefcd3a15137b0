"""Bake-offs: suites of questions put to a panel again and again, and what many rounds tell."""
