"""Models through litellm: one plain call at a time, our own retries, one sentence for each fault.

Importing this package does not import litellm, which takes two seconds: `load_warm` does.
"""

from council.gateways.litellm.client import SeatSettings, load_warm
from council.gateways.litellm.gateway import LitellmGateway

__all__ = ["LitellmGateway", "SeatSettings", "load_warm"]
