"""What is noted of a round as it closes, and what of it is not so any more."""

from council.sealing.changes import changes
from council.sealing.notes import Notes, Seal, noted

__all__ = ["Notes", "Seal", "changes", "noted"]
