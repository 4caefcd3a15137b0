"""Ten thousand answers as Discord's messages: none over a limit, none that calls anybody."""

import sys
from collections import Counter
from collections.abc import Iterator

from bench.generated import measure
from bot.chat import Post
from bot.discord.dress import dressed
from bot.discord.fits import fits_discord
from bot.render.paging import pages
from tests.bot.discord.limits_kept import faults_of_message, pings_in


def looked_at(post: Post) -> Iterator[Counter[str]]:
    for page in pages(post, fits_discord):
        payload = dressed(page).payload
        found = {"over limit": len(faults_of_message(payload)), "pings": len(pings_in(payload))}
        yield Counter({name: number for name, number in found.items() if number})


if __name__ == "__main__":
    sys.exit(measure("Discord", looked_at))
