"""Random choices follow from the seed by SHA-256."""

from hashlib import sha256

import pytest

from council.randomness import digest, shuffle

ITEMS = tuple("ABCDEFGH")


def test_a_digest_is_the_sha_256_of_seed_purpose_and_item() -> None:
    assert digest("s", "label", "K") == sha256(b"s\x1flabel\x1fK").hexdigest()


def test_digests_never_change_between_versions() -> None:
    assert digest("seed", "author", 3)[:16] == "1100cf7b04a9db37"


def test_a_shuffle_sorts_by_digest() -> None:
    order = shuffle(ITEMS, "s", "label")

    assert list(order) == sorted(
        ITEMS, key=lambda item: sha256(f"s\x1flabel\x1f{item}".encode()).hexdigest()
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(("ab", "c", "d"), ("a", "bc", "d"), id="seed-and-purpose"),
        pytest.param(("a", "bc", "d"), ("a", "b", "cd"), id="purpose-and-item"),
    ],
)
def test_every_choice_hashes_a_different_text(
    one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    assert digest(*one) != digest(*other)
