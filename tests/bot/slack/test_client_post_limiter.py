"""The rate limiter of a channel's posts."""

import asyncio

from bot.slack.client import PostRateLimiter

SCALE = 20.0  # times faster than Slack, to wait less


async def test_a_first_post_does_not_wait_behind_the_replies_of_eight_threads() -> None:
    limiter, sent = PostRateLimiter(4, SCALE), list[int]()
    burst_over = asyncio.Event()

    async def reply(number: int) -> None:
        await limiter.acquire(is_reply=True)
        sent.append(number)
        if len(sent) == 5:
            burst_over.set()

    async with asyncio.TaskGroup() as tasks:
        for number in range(16):
            tasks.create_task(reply(number))
        await burst_over.wait()
        before = len(sent)
        await limiter.acquire(is_reply=False)
        overtaken_by = len(sent) - before

    assert overtaken_by <= 1
    assert len(sent) == 16


async def test_first_posts_keep_to_the_rate_as_well() -> None:
    limiter, loop = PostRateLimiter(4, SCALE), asyncio.get_running_loop()
    begin = loop.time()

    for _ in range(8):
        await limiter.acquire(is_reply=False)

    assert loop.time() - begin >= 4 / SCALE * 0.9
