"""Prove that a stored round is what it was: digests, hash chain, erasure, verification."""
