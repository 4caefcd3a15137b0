"""Rate limits: a bucket for each method's tier, and one for each channel's posts."""

from dataclasses import dataclass, field

POSTING = ("chat.postMessage", "chat.postEphemeral")
TIERS = {
    "conversations.list": 2,
    "usergroups.users.list": 2,
    "chat.update": 3,
    "chat.delete": 3,
    "conversations.info": 3,
    "conversations.history": 3,
    "conversations.replies": 3,
    "conversations.open": 3,
    "reactions.add": 3,
    "users.conversations": 3,
    "apps.connections.open": 3,
    "bots.info": 3,
    "team.info": 3,
    "auth.revoke": 3,
    "apps.manifest.validate": 3,
}
USUAL_TIER = 4  # views.*, files.*, users.info, conversations.members, chat.postEphemeral


@dataclass(frozen=True, slots=True)
class Rates:
    """The rate limits. Burst and workspace share are our own; Slack documents none."""

    per_minute: dict[int, int] = field(default_factory=lambda: {1: 1, 2: 20, 3: 50, 4: 100})
    posts_per_second: float = 1.0
    post_burst: int = 5
    unlimited: frozenset[str] = frozenset({"auth.test", "chat.getPermalink", "blocks.validate"})
    off: bool = False


@dataclass(slots=True)
class _Bucket:
    left: float
    at: float


class Limiter:
    """Rate limiter of this fake."""

    def __init__(self, rates: Rates) -> None:
        self.rates = rates
        self._buckets: dict[tuple[str, str], _Bucket] = {}

    def wait_for(self, method: str, channel: str | None, now: float) -> float:
        """Count a call and return 0, or return the seconds until it is allowed."""
        if self.rates.off or method in self.rates.unlimited:
            return 0.0
        if method == "chat.postMessage":
            most, speed = float(self.rates.post_burst), self.rates.posts_per_second
            return self._take((method, channel or ""), most, speed, now)
        most = float(self.rates.per_minute[TIERS.get(method, USUAL_TIER)])
        return self._take((method, ""), most, most / 60, now)

    def _take(self, key: tuple[str, str], most: float, speed: float, now: float) -> float:
        bucket = self._buckets.setdefault(key, _Bucket(most, now))
        bucket.left = min(most, bucket.left + (now - bucket.at) * speed)
        bucket.at = now
        if bucket.left < 1:
            return (1 - bucket.left) / speed
        bucket.left -= 1
        return 0.0
