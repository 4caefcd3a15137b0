"""Runners: who carries unfinished rounds on."""
