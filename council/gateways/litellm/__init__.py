"""The gateway to models through litellm, with our own retries and error messages.

Importing this package does not import litellm, which takes two seconds; `load_warm` does.
"""

from council.gateways.litellm.client import SeatSettings, load_warm
from council.gateways.litellm.gateway import LitellmGateway

__all__ = ["LitellmGateway", "SeatSettings", "load_warm"]
