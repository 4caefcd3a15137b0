"""Messages that a release posted in Slack: kept in a file, and put back into a fake Slack."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.wire.slack import FakeSlack, Message, View

FILE = "slack_messages.json"


def kept(messages: dict[str, Message], views: dict[str, View]) -> str:
    """Write messages and modals by name as a file; people's own messages have names too."""
    document = {
        "messages": [{"name": name, **_told(message)} for name, message in messages.items()],
        "views": [{"name": name, **asdict(view)} for name, view in views.items()],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _told(message: Message) -> dict[str, Any]:
    names = ("channel", "ts", "payload", "thread_ts", "metadata", "ephemeral_to")
    return {name: getattr(message, name) for name in names}


class Stored:
    """What the file holds, once it stands in a fake Slack again."""

    def __init__(self, folder: Path) -> None:
        document = json.loads((folder / FILE).read_text(encoding="utf-8"))
        self.messages = {one.pop("name"): Message(**one) for one in document["messages"]}
        self.views = {one.pop("name"): View(**one) for one in document["views"]}

    def put_into(self, slack: FakeSlack) -> None:
        """Have everybody see what they saw then."""
        for message in self.messages.values():
            if message.ephemeral_to:
                slack.state.ephemerals.append(message)
            else:
                slack.workspace.channels[message.channel].said.append(message)
        for view in self.views.values():
            slack.state.modals.setdefault(view.user, []).append(view)

    def action_ids(self) -> set[str]:
        """Give every kind of action there is to press."""
        shown = [message.payload for message in self.messages.values()]
        return set(_action_ids([*shown, *(view.payload for view in self.views.values())]))


def _action_ids(value: object) -> list[str]:
    if isinstance(value, list):
        return [id_ for one in value for id_ in _action_ids(one)]
    if isinstance(value, dict):
        own = str(value.get("action_id", ""))
        return [own] * own.startswith("council:") + _action_ids(list(value.values()))
    return []
