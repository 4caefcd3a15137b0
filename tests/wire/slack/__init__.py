"""A strict fake Slack on loopback: it refuses what Slack refuses.

`async with FakeSlack() as slack`, and the product with `SLACK_API_URL=slack.api_url`.
"""

from tests.wire.faults import DropAfter, DropBefore, Fail, Refuse, Slow
from tests.wire.slack.calls import Call
from tests.wire.slack.checks import find_message_faults, find_view_faults
from tests.wire.slack.driver import FakeSlack
from tests.wire.slack.mentions import find_mentions
from tests.wire.slack.state import Installation, Rates, Rules, View
from tests.wire.slack.user_actions import Event, UserAction
from tests.wire.slack.workspace import BOT, TEAM, Channel, Message, User, Workspace

__all__ = [
    "BOT",
    "TEAM",
    "Call",
    "Channel",
    "DropAfter",
    "DropBefore",
    "Event",
    "Fail",
    "FakeSlack",
    "Installation",
    "Message",
    "Rates",
    "Refuse",
    "Rules",
    "Slow",
    "User",
    "UserAction",
    "View",
    "Workspace",
    "find_mentions",
    "find_message_faults",
    "find_view_faults",
]
