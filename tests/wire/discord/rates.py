"""Rate limits: a bucket for each route and major parameter, and one for all together.

Discord publishes no numbers but the global one and forbids writing them down; these are folklore.
"""

from dataclasses import dataclass, field
from hashlib import sha256

from tests.wire.discord.calls import Call

Window = tuple[int, float]  # so many requests in so many seconds

_MESSAGE = "/channels/{channel_id}/messages"
ROUTES: dict[str, Window] = {
    f"POST {_MESSAGE}": (5, 5.0),
    f"PATCH {_MESSAGE}/{{message_id}}": (5, 5.0),
    f"DELETE {_MESSAGE}/{{message_id}}": (5, 1.0),
    "POST /channels/{channel_id}/typing": (5, 5.0),
    "POST /webhooks/{webhook_id}/{webhook_token}": (5, 2.0),
    "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}": (5, 2.0),
    "PUT /applications/{application_id}/commands": (2, 60.0),
}
MAJOR = ("channel_id", "guild_id", "webhook_id", "webhook_token")


@dataclass(frozen=True, slots=True)
class Rates:
    """How often one may call; interactions are outside the global limit."""

    everywhere: Window = (50, 1.0)
    routes: dict[str, Window] = field(default_factory=lambda: dict(ROUTES))
    usual: Window = (20, 1.0)
    off: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the limits say of one request, and the headers that tell of it."""

    wait: float = 0.0
    everywhere: bool = False
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Bucket:
    until: float = 0.0
    used: int = 0

    def take(self, window: Window, now: float) -> float:
        """Count one in, or give the seconds until the window is over."""
        most, seconds = window
        if now >= self.until:
            self.until, self.used = now + seconds, 0
        if self.used >= most:
            return self.until - now
        self.used += 1
        return 0.0


class Limiter:
    def __init__(self, rates: Rates) -> None:
        self.rates = rates
        self._all = _Bucket()
        self._buckets: dict[tuple[str, ...], _Bucket] = {}

    def judge(self, call: Call, now: float) -> Verdict:
        """Count this request in, or say how long it has to wait."""
        if self.rates.off or call.route.startswith("/interactions/"):
            return Verdict()
        if not call.is_interaction:
            wait = self._all.take(self.rates.everywhere, now)
            if wait:
                return Verdict(wait, everywhere=True, headers={"X-RateLimit-Scope": "global"})
        route = f"{call.method} {call.route}"
        window = self.rates.routes.get(route, self.rates.usual)
        major = [call.names[name] for name in MAJOR if name in call.names]
        bucket = self._buckets.setdefault((route, *major), _Bucket())
        wait = bucket.take(window, now)
        headers = {
            "X-RateLimit-Limit": str(window[0]),
            "X-RateLimit-Remaining": str(window[0] - bucket.used),
            "X-RateLimit-Reset": f"{bucket.until:.3f}",
            "X-RateLimit-Reset-After": f"{bucket.until - now:.3f}",
            "X-RateLimit-Bucket": sha256(route.encode()).hexdigest()[:32],
        }
        if wait:
            headers["X-RateLimit-Scope"] = "user"
        return Verdict(wait, headers=headers)
