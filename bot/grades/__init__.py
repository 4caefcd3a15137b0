"""Grades of judges in files."""
