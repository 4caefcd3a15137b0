"""What Slack is reached with, and what of it is missing."""

from bot.settings import Settings
from bot.slack.config import Tokens


def slack_tokens(settings: Settings) -> Tokens | None:
    """Give what Slack is reached with; None where a token it needs is missing."""
    tokens = _found(settings)
    return tokens if tokens.bot and (tokens.app or tokens.signing) else None


def missing_of_slack(settings: Settings) -> str | None:
    """Say which token is missing beside those that are set; None where there is none at all."""
    tokens = _found(settings)
    if tokens.bot:
        return "SLACK_APP_TOKEN is missing, or SLACK_SIGNING_SECRET for HTTP"
    return "SLACK_BOT_TOKEN is missing" if tokens.app or tokens.signing else None


def _found(settings: Settings) -> Tokens:
    bot, app, signing = (
        secret.get_secret_value().strip() if secret else ""
        for secret in (
            settings.slack_bot_token,
            settings.slack_app_token,
            settings.slack_signing_secret,
        )
    )
    return Tokens(bot, app, signing, settings.slack_api_url)
