"""Integrity of stored rounds: digests, seals, hash chains, erasure of texts, verification."""
