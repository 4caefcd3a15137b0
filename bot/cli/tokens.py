"""Chat tokens from the settings; imports no chat library, because every start reads them."""

from bot.discord.config import DiscordCredentials
from bot.settings import Settings
from bot.slack.config import Tokens


def slack_tokens(settings: Settings) -> Tokens | None:
    """Return Slack's tokens, or None if one that it needs is missing."""
    tokens = _slack_tokens_found(settings)
    has_bot = tokens.is_distributed or tokens.bot
    return tokens if has_bot and (tokens.app or tokens.signing) else None


def missing_slack_token(settings: Settings) -> str | None:
    """Return a sentence about the token that the others lack; None if no token is set at all."""
    tokens = _slack_tokens_found(settings)
    if bool(tokens.client_id) != bool(tokens.client_secret):
        lacking = "SECRET" if tokens.client_id else "ID"
        return f"SLACK_CLIENT_{lacking} is missing"
    if tokens.bot or tokens.is_distributed:
        return "SLACK_APP_TOKEN is missing, or SLACK_SIGNING_SECRET for HTTP"
    return "SLACK_BOT_TOKEN is missing" if tokens.app or tokens.signing else None


def _slack_tokens_found(settings: Settings) -> Tokens:
    bot, app, signing, client_secret = (
        secret.get_secret_value().strip() if secret else ""
        for secret in (
            settings.slack_bot_token,
            settings.slack_app_token,
            settings.slack_signing_secret,
            settings.slack_client_secret,
        )
    )
    return Tokens(
        bot=bot,
        app=app,
        signing=signing,
        api_url=settings.slack_api_url,
        client_id=settings.slack_client_id.strip(),
        client_secret=client_secret,
        redirect_uri=settings.slack_redirect_uri,
    )


def discord_address(settings: Settings) -> DiscordCredentials | None:
    """Return Discord's token and addresses, or None if there is no token."""
    token = settings.discord_token.get_secret_value().strip() if settings.discord_token else ""
    address = DiscordCredentials(token, settings.discord_api_url, settings.discord_gateway_url)
    return address if token else None
