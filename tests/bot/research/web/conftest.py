"""The fixtures of the other pages."""

from tests.bot.web.conftest import hanging_site, locked_site, new_site, site

__all__ = ["hanging_site", "locked_site", "new_site", "site"]
