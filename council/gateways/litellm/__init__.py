"""The gateway to models through litellm, which is imported by `load_warm` only."""

from council.gateways.litellm.client import SeatSettings, load_warm
from council.gateways.litellm.gateway import LitellmGateway

__all__ = ["LitellmGateway", "SeatSettings", "load_warm"]
