"""The stages of a round; each does only what the round does not hold yet."""
