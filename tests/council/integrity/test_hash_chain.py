"""Each link has the hash of the previous one and a hash of all its fields."""

from dataclasses import fields, replace
from typing import Any

import pytest

from council.digests import canonical_json, json_digest
from council.integrity.hash_chain import LINK_VERSION, Link, next_link

FIRST = next_link(None, "slack/T1", "r1", "d1")
SECOND = next_link(FIRST, "slack/T1", "r2", "d2", "elsewhere")
OTHER: dict[str, Any] = {"number": 9, "version": LINK_VERSION + 1}


def test_the_first_link_has_no_predecessor() -> None:
    assert (FIRST.number, FIRST.previous, FIRST.origin) == (1, "", "")


def test_a_link_follows_the_head() -> None:
    assert (SECOND.number, SECOND.previous, SECOND.origin) == (2, FIRST.hash, "elsewhere")
    assert SECOND.is_sound


def test_a_link_hash_covers_all_other_fields() -> None:
    fields = {
        "scope": "slack/T1",
        "number": 1,
        "round_id": "r1",
        "digest": "d1",
        "previous": "",
        "origin": "",
        "version": LINK_VERSION,
    }

    assert FIRST.hash == json_digest(fields)


@pytest.mark.parametrize("name", [field.name for field in fields(Link)])
def test_a_changed_link_is_not_sound(name: str) -> None:
    changed = {name: OTHER.get(name, "another")}

    assert not replace(SECOND, **changed).is_sound


def test_canonical_json_ignores_key_order_and_escapes_unicode() -> None:
    assert canonical_json({"b": [1, None, True], "a": "é"}) == '{"a":"\\u00e9","b":[1,null,true]}'
    assert canonical_json({"a": 1, "b": 2}) == canonical_json({"b": 2, "a": 1})


def test_a_digest_matches_sha256() -> None:
    # printf '{"a":1}' | sha256sum
    by_hand = "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"

    assert json_digest({"a": 1}) == by_hand
