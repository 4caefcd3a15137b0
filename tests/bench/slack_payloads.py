"""Ten thousand answers as Slack's messages, as a strict reader of Slack's documents sees them."""

import sys
from collections import Counter
from collections.abc import Iterator
from itertools import product

from bot.chat import Post
from bot.render.pagination import paginate
from bot.slack.block_kit import BlockLevel, fits_slack, render_message
from bot.slack.messages import NO_PARSING
from tests.bench.generated import measure
from tests.wire.slack import find_mentions, find_message_faults

QUIET = {"unfurl_links": False, "unfurl_media": False}


def looked_at(post: Post) -> Iterator[Counter[str]]:
    """Yield every page at every level, from the newest blocks down to plain text."""
    for page, level in product(paginate(post, fits_slack), BlockLevel):
        payload = {"channel": "C1", **render_message(page, level).payload, **NO_PARSING, **QUIET}
        found = {
            "over limit": len(find_message_faults(payload)),
            "pings": len(find_mentions(payload)),
        }
        yield Counter({name: number for name, number in found.items() if number})


if __name__ == "__main__":
    sys.exit(measure("Slack", looked_at))
