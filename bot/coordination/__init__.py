"""What tasks and processes share: clock, locks, publish/subscribe, background tasks, registry."""
