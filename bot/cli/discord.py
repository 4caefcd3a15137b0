"""`council discord`: setting the Discord application up."""

from bot.cli.outcome import run


def invite() -> None:
    """Print the link that invites the bot into a server, with the permissions it needs."""
    from bot.cli.discord_invitation import print_invitation

    run(print_invitation())
