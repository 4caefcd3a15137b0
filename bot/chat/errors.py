"""What can go wrong between the bot and a platform."""

from council.errors import CouncilError


class UnsureError(CouncilError):
    """A message was sent, and whether it arrived is not known."""


class UnreachableError(UnsureError):
    """The chat was not reached, so nothing arrived."""


class GoneError(CouncilError):
    """A message that should be edited is not there any more."""


class UnwelcomeError(CouncilError):
    """The bot may not post in a place: it is no member of it, or nobody may; says what to do."""


class NoThreadError(UnwelcomeError):
    """Nothing can be posted under a message, which itself stands; says why, or what to do."""
