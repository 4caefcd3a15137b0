"""Take all pictures of the documents again: `python -m tests.bench.pictures`.

One scripted round (`words`) is asked on the page, in Slack and in Discord.
"""

import asyncio

from tests.bench.pictures import bakeoffs, discord, page, slack

for part in (page, slack, discord, bakeoffs):
    asyncio.run(part.main())
