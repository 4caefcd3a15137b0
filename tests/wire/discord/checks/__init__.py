"""Validation of payloads, as pure functions."""

from tests.wire.discord.checks.command import faults_of_command
from tests.wire.discord.checks.components import faults_of_modal
from tests.wire.discord.checks.message import faults_of_message, is_empty
from tests.wire.discord.checks.shapes import Fault, errors_of

__all__ = [
    "Fault",
    "errors_of",
    "faults_of_command",
    "faults_of_message",
    "faults_of_modal",
    "is_empty",
]
