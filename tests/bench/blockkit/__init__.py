"""Draw Block Kit payloads roughly as Slack's client shows them, for the pictures in the documents.

Knows no product and no browser.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from PIL import Image

Payload = dict[str, Any]

_FOLDER = Path(__file__).parent / "templates"
_TEMPLATES = Environment(loader=FileSystemLoader(_FOLDER), autoescape=True, trim_blocks=True)


def _styled(mrkdwn: str) -> Markup:
    """Return mrkdwn, whose text is escaped already, with its code and bold words as HTML."""
    dated = re.sub(r"<!date\^[^|]*\|([^>]*)>", r"\1", mrkdwn)  # as its text for old clients
    coded = re.sub(r"`([^`]+)`", r"<code>\1</code>", dated)
    return Markup(re.sub(r"\*([^*]+)\*", r"<b>\1</b>", coded))  # noqa: S704


_TEMPLATES.filters["mrkdwn"] = _styled


@dataclass(frozen=True, slots=True)
class Line:
    """One message on the screen: who says it, when, and the payload; `only_you` is an ephemeral."""

    author: str
    at: str
    payload: Payload
    is_app: bool = True
    only_you: bool = False
    replies: int = 0


@dataclass(frozen=True, slots=True)
class Screen:
    """What somebody looks at: a place with its messages, or a modal before it.

    With `has_root` the first message is the thread's root. `typed` is what stands in the inputs
    of a modal. `people` are the names of users by their ids.
    """

    title: str
    lines: tuple[Line, ...] = ()
    is_thread: bool = False
    has_root: bool = False
    modal: Payload | None = None
    typed: Mapping[str, str] = field(default_factory=dict)
    people: Mapping[str, str] = field(default_factory=dict)
    is_dark: bool = False
    is_phone: bool = False


def drawn(screen: Screen) -> str:
    """Return the screen as a self-contained page."""
    css = (_FOLDER / "slack.css").read_text(encoding="utf-8")
    return _TEMPLATES.get_template("screen.html").render(screen=screen, css=css)


def thinned(png: bytes) -> bytes:
    """Return a picture of a screen as a PNG of at most 256 colours."""
    small = BytesIO()
    picture = Image.open(BytesIO(png)).convert("RGB")
    picture.quantize(dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
    return small.getvalue()
