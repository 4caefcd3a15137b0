"""Suites as people write them: read from files and settings, named, and written again."""
