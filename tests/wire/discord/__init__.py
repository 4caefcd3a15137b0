"""A strict fake Discord on loopback: it refuses what Discord refuses.

`async with FakeDiscord() as discord`, and the product with `discord.settings`.
"""

from tests.wire.discord.calls import Call, Upload
from tests.wire.discord.checks import Fault, faults_of_command, faults_of_message, faults_of_modal
from tests.wire.discord.checks.message import pings_in
from tests.wire.discord.driver import FakeDiscord
from tests.wire.discord.permissions import INVITED, Overwrite, Permission
from tests.wire.discord.rates import Rates
from tests.wire.discord.sample_world import BOT
from tests.wire.discord.state import Installation, Interaction, Modal, Rules, SeenFault
from tests.wire.discord.user_actions import component
from tests.wire.discord.world import Channel, File, Guild, Member, Message, Role, User, World
from tests.wire.faults import DropAfter, DropBefore, Fail, FailAfter, Slow, Storm

__all__ = [
    "BOT",
    "INVITED",
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
]
