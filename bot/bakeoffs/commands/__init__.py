"""Commands about bake-offs, boards, schedules and suites, in every chat."""
