"""Logging: one canonical line per round; JSON, or plain text on a terminal.

Never logs the text of questions or answers, nor a secret.
"""

import logging
import re
import secrets
import sys
import traceback
from pathlib import Path

import structlog

from council.rounds import Round

# Without the local variables of tracebacks: they contain questions, answers and keys.
_RENDERERS: dict[str, list[structlog.typing.Processor]] = {
    "plain": [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)],
    "json": [
        structlog.processors.ExceptionRenderer(
            structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
        ),
        structlog.processors.JSONRenderer(),
    ],
}


def configure_logging(*, verbose: bool = False) -> None:
    """Write logs to stderr; only warnings and errors unless verbose."""
    level = logging.INFO if verbose else logging.WARNING
    renderer = "plain" if sys.stderr.isatty() else "json"
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *_RENDERERS[renderer],
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def log_unexpected_error(event: str, error: Exception, **facts: str) -> str:
    """Log an unexpected error under a reference; return the sentence for people."""
    reference = secrets.token_hex(2)
    structlog.get_logger().error(event, ref=reference, exc_info=error, **facts)
    return f"Something went wrong (ref {reference})."


def log_round(round_: Round) -> None:
    """Log the canonical line of a closed round."""
    first = [line.label for line in round_.tally.standings[:1]] if round_.tally else []
    structlog.get_logger().info(
        "round_closed",
        round_id=round_.id,
        answers=len(round_.answers),
        absences=len(round_.absences),
        spoiled=len(round_.spoiled),
        first=round_.draw.labels.author_of(first[0]) if first and round_.draw else None,
        seconds=round(round_.closing.seconds, 3) if round_.closing else None,
        failed=bool(round_.closing and round_.closing.failure),
    )


def redirect_library_log(name: str, level: int, event: str) -> logging.Logger:
    """Send what a library logs from a level on to our own log only, as an event."""
    logger = logging.getLogger(name)
    logger.setLevel(level)
    logger.handlers, logger.propagate = [_LibraryHandler(event)], False
    return logger


class _LibraryHandler(logging.Handler):
    def __init__(self, event: str) -> None:
        super().__init__()
        self._event = event

    def emit(self, record: logging.LogRecord) -> None:
        """Log what failed and where, without details: a URL is a secret, a body holds texts."""
        what = re.split(r":| %| \(| in ", str(record.msg))[0]
        kind, _, trace = record.exc_info or (None, None, None)
        frames = traceback.extract_tb(trace)
        where = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
        fault = kind.__name__ if kind else ""
        structlog.get_logger().warning(self._event, what=what, fault=fault, where=where)
