"""Settings from the environment, `.env` and `council.toml`; nothing else reads the environment.

SettingsError reports all faults at once, one per line.
"""

from bot.settings.council_toml import SettingsError
from bot.settings.environment import Settings, load_settings
from bot.settings.panels import PanelConfig, Seat, load_panel_config

__all__ = ["PanelConfig", "Seat", "Settings", "SettingsError", "load_panel_config", "load_settings"]
