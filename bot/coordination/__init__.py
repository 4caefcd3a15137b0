"""What tasks and processes share: clock, named locks, publish/subscribe, background tasks."""
