"""Addresses that only this machine reaches, and those of its link."""

import pytest

from council.providers import find_provider, is_link_local, is_loopback


@pytest.mark.parametrize(
    ("host", "own"),
    [
        *((host, True) for host in ("127.0.0.1", "127.9.9.9", "::1", "localhost")),
        *((host, False) for host in ("0.0.0.0", "::", "192.0.2.1", "example.org", "")),  # noqa: S104
    ],
)
def test_only_loopback_addresses_are_private(host: str, *, own: bool) -> None:
    assert is_loopback(host) is own


@pytest.mark.parametrize(
    ("host", "own"),
    [
        *((host, True) for host in ("169.254.169.254", "fe80::1", "fe80::1%eth0", "febf::1")),
        ("::ffff:169.254.169.254", True),
        *((host, False) for host in ("::ffff:127.0.0.1", "10.0.0.1", "fec0::1", "example.org", "")),
    ],
)
def test_link_local_addresses_are_recognized(host: str, *, own: bool) -> None:
    assert is_link_local(host) is own


def test_a_provider_is_found_by_its_name() -> None:
    provider = find_provider("openai")

    assert provider
    assert provider.label == "OpenAI"
    assert find_provider("nobody") is None
