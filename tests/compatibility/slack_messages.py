"""Messages that a release posted in Slack: stored in a file, and put back into a fake Slack."""

import json
from pathlib import Path

from tests.wire.slack import FakeSlack, Message, View

FILE = "slack_messages.json"


class Stored:
    """The messages of the file, as objects of a fake Slack."""

    def __init__(self, folder: Path) -> None:
        document = json.loads((folder / FILE).read_text(encoding="utf-8"))
        self.messages = {one.pop("name"): Message(**one) for one in document["messages"]}
        self.views = {one.pop("name"): View(**one) for one in document["views"]}

    def put_into(self, slack: FakeSlack) -> None:
        """Show the stored messages and views."""
        for message in self.messages.values():
            if message.ephemeral_to:
                slack.state.ephemerals.append(message)
            else:
                slack.workspace.channels[message.channel].said.append(message)
        for view in self.views.values():
            slack.state.modals.setdefault(view.user, []).append(view)

    def action_ids(self) -> set[str]:
        """Return the action ids of every button."""
        shown = [message.payload for message in self.messages.values()]
        return set(_action_ids([*shown, *(view.payload for view in self.views.values())]))


def _action_ids(value: object) -> list[str]:
    if isinstance(value, list):
        return [id_ for one in value for id_ in _action_ids(one)]
    if isinstance(value, dict):
        own = str(value.get("action_id", ""))
        return [own] * own.startswith("council:") + _action_ids(list(value.values()))
    return []
