"""Runners: the parts that run rounds to their end, on one machine or on many."""
