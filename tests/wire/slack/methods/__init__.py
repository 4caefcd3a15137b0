"""The methods of the Web API, one file for each family."""

from tests.wire.slack.methods import (
    chat,
    conversations,
    files,
    identity,
    people,
    validation,
    views,
)
from tests.wire.slack.methods.method import Method

METHODS: dict[str, Method] = {
    **identity.METHODS,
    **chat.METHODS,
    **conversations.METHODS,
    **people.METHODS,
    **views.METHODS,
    **files.METHODS,
    **validation.METHODS,
}

__all__ = ["METHODS", "Method"]
