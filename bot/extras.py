"""Optional packages: which extra of council-bot brings a package that is not installed."""

from council.errors import CouncilError

EXTRAS = {
    "slack_bolt": "slack",
    "slack_sdk": "slack",
    "discord": "discord",
    "procrastinate": "postgres",
    "psycopg": "postgres",
    "matplotlib": "lab",
}


class MissingExtraError(CouncilError):
    """A part of the program needs packages that are not installed."""


def missing_extra(error: ModuleNotFoundError) -> MissingExtraError | None:
    """Return the error that names the extra to install; None for a package of no extra."""
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        return None
    command = f"pip install 'council-bot[{EXTRAS[package]}]'"
    return MissingExtraError(f"This needs packages that are not installed. Run: {command}")
