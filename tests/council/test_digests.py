"""Canonical JSON is the same text for the same value."""

from council.digests import canonical_json, json_digest


def test_canonical_json_ignores_key_order_and_escapes_unicode() -> None:
    assert canonical_json({"b": [1, None, True], "a": "é"}) == '{"a":"\\u00e9","b":[1,null,true]}'
    assert canonical_json({"a": 1, "b": 2}) == canonical_json({"b": 2, "a": 1})


def test_a_digest_matches_sha256() -> None:
    # printf '{"a":1}' | sha256sum
    by_hand = "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"

    assert json_digest({"a": 1}) == by_hand
