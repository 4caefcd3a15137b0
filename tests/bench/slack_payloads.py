"""Ten thousand answers as Slack's messages, as a strict reader of Slack's documents sees them."""

import sys
from collections import Counter
from collections.abc import Iterator
from itertools import product

from bot.chat import Post
from bot.render.pagination import paginate
from bot.slack.block_kit import fits_slack, render_ephemeral, render_message, render_text
from bot.slack.messages import NO_PARSING
from tests.bench.generated import measure
from tests.wire.slack import find_mentions, find_message_faults

FORMS = (render_message, render_ephemeral, render_text)
QUIET = {"unfurl_links": False, "unfurl_media": False}


def looked_at(post: Post) -> Iterator[Counter[str]]:
    """Yield what is found on every page in every form."""
    for page, render in product(paginate(post, fits_slack), FORMS):
        payload = {"channel": "C1", **render(page), **NO_PARSING, **QUIET}
        found = {
            "over limit": len(find_message_faults(payload)),
            "pings": len(find_mentions(payload)),
        }
        yield Counter({name: number for name, number in found.items() if number})


if __name__ == "__main__":
    sys.exit(measure("Slack", looked_at))
