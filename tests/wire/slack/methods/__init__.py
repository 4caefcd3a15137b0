"""The methods of the Web API that the product calls, one module for each family."""

from tests.wire.slack.calls import Method
from tests.wire.slack.methods import chat, conversations, files, identity, oauth, views

METHODS: dict[str, Method] = {
    **identity.METHODS,
    **chat.METHODS,
    **conversations.METHODS,
    **views.METHODS,
    **files.METHODS,
    **oauth.METHODS,
}
