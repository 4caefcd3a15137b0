"""What the bot is told by its surroundings: the environment, `.env` and `council.toml`.

The only reader of the environment. Every fault is one line, and all of them come at once.
"""

from bot.settings.council_toml import SettingsError
from bot.settings.environment import Settings, load_settings
from bot.settings.panels import PanelConfig, Seat, load_houses

__all__ = ["PanelConfig", "Seat", "Settings", "SettingsError", "load_houses", "load_settings"]
