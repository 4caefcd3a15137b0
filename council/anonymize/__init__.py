"""Mask what gives an author away: self-identification, signatures, model names."""
