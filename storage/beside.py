"""Connections beside those that rounds are stored by, for acts that must not wait for them."""

from sqlalchemy.ext.asyncio import AsyncEngine

from storage.servers import Pool, open_server


def connections_beside(engine: AsyncEngine, most: int, wait_seconds: float) -> AsyncEngine:
    """Give a few connections of their own to the same server; whoever needs one waits so long."""
    return open_server(engine.url, Pool(most, 0, wait_seconds))
