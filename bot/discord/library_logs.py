"""What discord.py complains of, in our log: one line, no address, nobody's words."""

import logging
import traceback
from pathlib import Path

import structlog


class _ToLog(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """Write what went wrong and where, without details: an address may hold a secret."""
        what = record.msg.partition(" %")[0].partition(" in ")[0]
        kind, _, trace = record.exc_info or (None, None, None)
        frames = traceback.extract_tb(trace)
        where = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
        fault = kind.__name__ if kind else ""
        structlog.get_logger().warning("discord_trouble", what=what, fault=fault, where=where)


def hear_library() -> None:
    """Have errors of the library in our log, and nothing of it anywhere else."""
    logger = logging.getLogger("discord")
    logger.setLevel(logging.ERROR)
    logger.handlers, logger.propagate = [_ToLog()], False
