"""A strict fake Slack on loopback: it refuses what Slack refuses.

In process: `async with FakeSlack() as slack`, and the product beside it with
`SLACK_API_URL=slack.api_url`. By hand: `python -m tests.wire.slack --port 4000`.
"""

from tests.wire.slack.acting import Event, UserAction
from tests.wire.slack.blockcheck import find_block_faults, find_message_faults, find_view_faults
from tests.wire.slack.blocks.shapes import Fault
from tests.wire.slack.calls import Call
from tests.wire.slack.delivering import Acknowledgement
from tests.wire.slack.driver import FakeSlack
from tests.wire.slack.manifest import find_manifest_faults
from tests.wire.slack.mentions import find_mentions
from tests.wire.slack.rates import Rates
from tests.wire.slack.state import File, Installation, Rules, SeenFault, View
from tests.wire.slack.troubles import Refuse
from tests.wire.slack.workspace import BOT, BOT_ID, TEAM, Channel, Message, User, Workspace
from tests.wire.troubles import DropAfter, DropBefore, Fail, Slow

__all__ = [
    "BOT",
    "BOT_ID",
    "TEAM",
    "Acknowledgement",
    "Call",
    "Channel",
    "DropAfter",
    "DropBefore",
    "Event",
    "Fail",
    "FakeSlack",
    "Fault",
    "File",
    "Installation",
    "Message",
    "Rates",
    "Refuse",
    "Rules",
    "SeenFault",
    "Slow",
    "User",
    "UserAction",
    "View",
    "Workspace",
    "find_block_faults",
    "find_manifest_faults",
    "find_mentions",
    "find_message_faults",
    "find_view_faults",
]
