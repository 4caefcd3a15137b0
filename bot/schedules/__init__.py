"""Schedules in plain words or cron, and when they run. Pure: reads no clock and no store."""
