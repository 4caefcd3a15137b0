"""What starts scheduled bake-offs: timers over the schedules that are kept."""
