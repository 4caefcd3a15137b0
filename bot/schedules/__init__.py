"""Schedules as people say them, and when their slots are. Pure: knows no desk and no clock."""
