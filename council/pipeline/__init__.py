"""Pipeline of a round: answers, blind ballots, tally, synthesis, audit ballot."""
