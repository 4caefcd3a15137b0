"""Ten thousand answers as Discord's messages: none over a limit, none that calls anybody."""

import sys
from collections import Counter
from collections.abc import Iterator

from bot.chat import Post
from bot.discord.components import fits_discord, render_components
from bot.render.pagination import paginate
from tests.bench.generated import measure
from tests.bot.discord import limits
from tests.wire.discord import pings_in


def looked_at(post: Post) -> Iterator[Counter[str]]:
    for page in paginate(post, fits_discord):
        message = render_components(page)
        payload, faults = limits.payload_of(message), limits.message_faults(message)
        # As if every mention were let through.
        bare = {name: value for name, value in payload.items() if name != "allowed_mentions"}
        pings = [*limits.find_pings(payload), *pings_in(bare)]
        found = {"over limit": len(faults), "pings": len(pings)}
        yield Counter({name: number for name, number in found.items() if number})


if __name__ == "__main__":
    sys.exit(measure("Discord", looked_at))
