"""Signatures, keys, the cookies of visitors, and their addresses."""

from dataclasses import replace
from pathlib import Path

import pytest
from starlette.requests import HTTPConnection

from bot.web.auth import PageSigner, address_of, load_signing_key

NOON = 1_795_262_400.0


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::ffff:2", "2001:db8::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("a name", "a name"),
        (None, ""),
    ],
)
def test_an_address_of_ipv6_is_its_network(host: str | None, address: str) -> None:
    scope = {"type": "http", "client": (host, 1) if host else None}

    assert address_of(HTTPConnection(scope)) == address


def test_only_our_own_cookies_name_an_address() -> None:
    signer = PageSigner(b"key")
    visitor = signer.new_visitor("192.0.2.1")
    cookie = signer.visitor_cookie(visitor)

    assert signer.read_visitor(cookie) == replace(visitor, is_new=False)
    assert signer.new_visitor("192.0.2.1").origin == visitor.origin
    assert signer.new_visitor("192.0.2.2").origin != visitor.origin
    assert PageSigner(b"other").read_visitor(cookie) is None
    assert signer.read_visitor(cookie.replace(visitor.origin, "0" * 12)) is None


@pytest.mark.parametrize("apart", [60.0, -60.0], ids=["behind", "ahead"])
def test_a_seal_is_good_at_a_process_whose_clock_is_a_minute_off(apart: float) -> None:
    here, there = PageSigner(b"key", lambda: NOON), PageSigner(b"key", lambda: NOON - apart)

    there.verify_link("r1", here.link_key("r1", 3600))

    assert there.is_session_token(here.session_token())


def test_the_signing_key_is_random_and_stays_the_same(tmp_path: Path) -> None:
    one = load_signing_key(tmp_path / "one")

    assert load_signing_key(tmp_path / "one") == one
    assert load_signing_key(tmp_path / "other") != one
    assert (tmp_path / "one" / "page.key").stat().st_mode & 0o777 == 0o600


def test_a_session_ends_with_the_access_token_it_was_begun_with() -> None:
    session = PageSigner(b"key", token="a long random text").session_token()

    assert PageSigner(b"key", token="a long random text").is_session_token(session)
    assert not PageSigner(b"key", token="another random text").is_session_token(session)
    assert not PageSigner(b"key").is_session_token(session)
