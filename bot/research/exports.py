"""Exports for researchers: rankings and votes, without texts."""

from bot.exports import Exporter
from bot.research.services import export_judgments

JUDGMENTS = "judgments"


class JudgmentExporter(Exporter):
    """Exports the rankings and votes of rounds."""

    formats = {JUDGMENTS: "only rankings and votes, without texts"}  # noqa: RUF012 - a constant

    async def dump_round(self, kind: str, round_id: str) -> str:
        """Return a round's rankings and votes as JSON Lines."""
        return await export_judgments(self.stores, round_id)
