"""Mask where an answer says who wrote it; leave alone where it speaks about models.

Once an answer names its family, every name of that family and its maker is masked in it.
"""

from council.scrub.masking import MASK, Scrubbed, ready, scrub, without_names

__all__ = ["MASK", "Scrubbed", "ready", "scrub", "without_names"]
