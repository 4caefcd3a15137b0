"""How Discord is reached, by the settings."""

from bot.discord.config import Address
from bot.settings import Settings


def discord_address(settings: Settings) -> Address | None:
    """Give how Discord is reached; None where there is no token."""
    token = settings.discord_token.get_secret_value().strip() if settings.discord_token else ""
    address = Address(token, settings.discord_api_url, settings.discord_gateway_url)
    return address if token else None
