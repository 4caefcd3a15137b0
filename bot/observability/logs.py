"""Logs: one canonical line a round, JSON when nobody watches, readable in a terminal.

Never the text of questions or answers, never a secret.
"""

import logging
import secrets
import sys

import structlog

from council.rounds import Round

# Never with the local variables of a traceback: they hold questions, answers and keys.
_RENDERERS: dict[str, list[structlog.typing.Processor]] = {
    "plain": [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)],
    "json": [
        structlog.processors.ExceptionRenderer(
            structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
        ),
        structlog.processors.JSONRenderer(),
    ],
}


def set_up(*, verbose: bool = False) -> None:
    """Send logs to stderr; warnings and worse only, unless verbose."""
    level = logging.INFO if verbose else logging.WARNING
    plain = sys.stderr.isatty()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *_RENDERERS["plain" if plain else "json"],
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def unforeseen(event: str, error: Exception, **facts: str) -> str:
    """Log a fault that nobody foresaw, once, and give the words that stand for it in a chat."""
    reference = secrets.token_hex(2)
    structlog.get_logger().error(event, ref=reference, exc_info=error, **facts)
    return f"Something went wrong (ref {reference})."


def round_closed(round_: Round) -> None:
    """Write the canonical line of a closed round."""
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
