"""Rows of bake-offs, their suites, schedules and records."""
