"""API calls as the fake records them, and the errors it returns."""

from dataclasses import dataclass, field
from typing import Any

Payload = dict[str, Any]

REFUSALS: dict[int, tuple[int, str]] = {
    0: (404, "404: Not Found"),
    10003: (404, "Unknown Channel"),
    10004: (404, "Unknown Guild"),
    10007: (404, "Unknown Member"),
    10008: (404, "Unknown Message"),
    10013: (404, "Unknown User"),
    10015: (404, "Unknown Webhook"),
    10062: (404, "Unknown interaction"),
    30032: (400, "Maximum number of application commands reached"),
    30034: (429, "Max number of daily application command creates has been reached (200)"),
    30046: (429, "Maximum number of edits to messages older than 1 hour reached. Try again later."),
    40005: (413, "Request entity too large"),
    40094: (400, "This interaction has already reached the maximum number of follow-up messages"),
    40060: (400, "Interaction has already been acknowledged."),
    50001: (403, "Missing Access"),
    50005: (403, "Cannot edit a message authored by another user"),
    50006: (400, "Cannot send an empty message"),
    50007: (403, "Cannot send messages to this user"),
    50008: (400, "Cannot send messages in a non-text channel"),
    50013: (403, "Missing Permissions"),
    50024: (403, "Cannot execute action on this channel type"),
    50027: (401, "Invalid Webhook Token"),
    50083: (400, "Thread is archived"),
    50109: (400, "The request body contains invalid JSON."),
    160002: (400, "You cannot reply without permission to read message history"),
    160004: (400, "A thread has already been created for this message"),
    160005: (403, "Thread is locked"),
}


class RefusalError(Exception):
    """Discord answers with this status, this code and, maybe, what is wrong with each field."""

    def __init__(self, code: int, status: int | None = None, **more: object) -> None:
        usual, message = REFUSALS.get(code, (400, ""))
        super().__init__(f"{code} {message}")
        self.code = code
        self.status = status or usual
        self.body: Payload = {"message": message, "code": code, **more}


@dataclass(frozen=True, slots=True)
class Upload:
    name: str
    content: bytes
    content_type: str = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Reply:
    status: int = 200
    body: Any = None


@dataclass(slots=True)
class Call:
    """One request; `outcome` is a status and Discord's code, or the fault that was injected."""

    method: str
    path: str  # as asked, below /api/v10
    at: float
    route: str = ""  # as documented: "/channels/{channel_id}/messages"
    names: dict[str, str] = field(default_factory=dict)  # the ids in the path
    query: dict[str, str] = field(default_factory=dict)
    token: str | None = None
    body: Any = None
    uploads: dict[str, Upload] = field(default_factory=dict)  # by field: "files[0]"
    outcome: str = "under way"
    status: int = 0
    response: Any = None

    def __str__(self) -> str:
        return f"{self.method} {self.path}: {self.outcome}"

    @property
    def payload(self) -> Payload:
        return self.body if isinstance(self.body, dict) else {}

    @property
    def is_interaction(self) -> bool:
        """Whether it goes to an interaction's own endpoints, which no global limit holds."""
        return self.route.startswith(("/interactions/", "/webhooks/"))
