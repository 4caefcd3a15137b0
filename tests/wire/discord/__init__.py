"""A strict fake Discord on loopback: it refuses what Discord refuses.

In process: `async with FakeDiscord() as discord`, and the product beside it with
`DISCORD_API_URL=discord.api_url`, `DISCORD_GATEWAY_URL=discord.gateway_url` and
`DISCORD_TOKEN=discord.token`. By hand: `python -m tests.wire.discord --port 4000`.
"""

from tests.wire.discord.calls import Call, Upload
from tests.wire.discord.checks import (
    Fault,
    faults_of_command,
    faults_of_message,
    faults_of_modal,
    unseen_attachments,
)
from tests.wire.discord.driver import FakeDiscord
from tests.wire.discord.faults import FailAfter, Refuse, Storm
from tests.wire.discord.permissions import INVITED, Overwrite, Permission
from tests.wire.discord.pings import pings_in
from tests.wire.discord.rates import Rates
from tests.wire.discord.sample_world import BOT
from tests.wire.discord.state import Installation, Interaction, Modal, Rules, SeenFault
from tests.wire.discord.user_actions import ActionResult, component
from tests.wire.discord.world import Channel, File, Guild, Member, Message, Role, User, World
from tests.wire.troubles import DropAfter, DropBefore, Fail, Slow

__all__ = [
    "BOT",
    "INVITED",
    "ActionResult",
    "Call",
    "Channel",
    "DropAfter",
    "DropBefore",
    "Fail",
    "FailAfter",
    "FakeDiscord",
    "Fault",
    "File",
    "Guild",
    "Installation",
    "Interaction",
    "Member",
    "Message",
    "Modal",
    "Overwrite",
    "Permission",
    "Rates",
    "Refuse",
    "Role",
    "Rules",
    "SeenFault",
    "Slow",
    "Storm",
    "Upload",
    "User",
    "World",
    "component",
    "faults_of_command",
    "faults_of_message",
    "faults_of_modal",
    "pings_in",
    "unseen_attachments",
]
