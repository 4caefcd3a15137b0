"""From rounds to posts that know no platform: the same words in every chat."""
