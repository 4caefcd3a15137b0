"""The thesis' experiment: members answer, then every member grades every answer, its own too."""
