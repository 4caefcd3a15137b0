"""Addresses that only this machine reaches."""

import pytest

from council.providers import is_loopback


@pytest.mark.parametrize(
    ("host", "own"),
    [
        *((host, True) for host in ("127.0.0.1", "127.9.9.9", "::1", "localhost")),
        *((host, False) for host in ("0.0.0.0", "::", "192.0.2.1", "example.org", "")),  # noqa: S104
    ],
)
def test_only_loopback_addresses_are_private(host: str, *, own: bool) -> None:
    assert is_loopback(host) is own
