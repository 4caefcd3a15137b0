"""Rate limits and circuit breakers of providers."""
