"""What Slack's own libraries complain of, in our log: one line, no address, nobody's words."""

import logging

import structlog


class _ToLog(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """Write what went wrong, without the details: an address is a secret, a body is a text."""
        what = record.getMessage().partition(":")[0].partition(" (")[0]
        fault = record.exc_info[0] if record.exc_info else None
        name = fault.__name__ if fault else ""
        structlog.get_logger().warning("slack_trouble", what=what, fault=name)


def sdk_logger(name: str, level: int) -> logging.Logger:
    """Give a logger for a library that tells our log what is as bad as this level, or worse."""
    logger = logging.getLogger(name)
    logger.setLevel(level)
    logger.handlers, logger.propagate = [_ToLog()], False
    return logger
