"""What the council needs from the world, as protocols."""

from council.ports.chain import Chain
from council.ports.gateway import Gateway
from council.ports.ledger import Ledger
from council.ports.listing import EVERY, RoundLine, Wanted
from council.ports.memos import Memos
from council.ports.outgoing import Outgoing
from council.ports.store import Store
from council.ports.turnstile import Turnstile

__all__ = [
    "EVERY",
    "Chain",
    "Gateway",
    "Ledger",
    "Memos",
    "Outgoing",
    "RoundLine",
    "Store",
    "Turnstile",
    "Wanted",
]
