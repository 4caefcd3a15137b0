"""Models through litellm: one plain call at a time, our own retries, one sentence for each fault.

Importing this package does not import litellm, which takes two seconds: `load_warm` does.
"""

from council.gateways.litellm.gateway import LitellmGateway
from council.gateways.litellm.library import load_warm
from council.gateways.litellm.seats import SeatSettings

__all__ = ["LitellmGateway", "SeatSettings", "load_warm"]
