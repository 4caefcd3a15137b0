"""Rounds of a process that is no part of the cluster, such as one command of a person."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from bot.cluster.works import ClusterWorks, TakenError
from bot.runners.cluster import work_of
from bot.runners.local import Paying, RoundElsewhereError
from council.ports import Gateway
from council.rounds import Round


def apart(works: ClusterWorks, paying: Paying) -> Paying:
    """Have a process carry what the cluster does not, and the cluster not take it meanwhile.

    Whoever goes on with a round of the cluster's hears RoundElsewhereError; nothing is spent.
    """

    @asynccontextmanager
    async def paid_apart(round_: Round, gateway: Gateway) -> AsyncIterator[Gateway]:
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(works.alone(work_of(round_.id)))
            except TakenError:
                raise RoundElsewhereError(
                    f"Round {round_.id} is being carried on by another process: it can be seen "
                    "on the page and where it was asked, and stopped there."
                ) from None
            yield await stack.enter_async_context(paying(round_, gateway))

    return paid_apart
