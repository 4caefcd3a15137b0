"""Connections beside those that rounds are stored by, for acts that must not wait for them."""

from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine


def connections_beside(engine: AsyncEngine, most: int, wait_seconds: float) -> AsyncEngine:
    """Give a few connections of their own to the same server; whoever needs one waits so long."""
    return create_async_engine(
        engine.url, pool_size=most, max_overflow=0, pool_timeout=wait_seconds, pool_pre_ping=True
    )
