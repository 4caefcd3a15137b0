"""Run a round: session, stages, methods."""
