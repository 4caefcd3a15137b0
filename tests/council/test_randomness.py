"""Random choices follow from the seed by SHA-256."""

from collections import Counter
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


def test_the_same_seed_gives_the_same_order() -> None:
    assert shuffle(ITEMS, "s", "label") == shuffle(reversed(ITEMS), "s", "label")


def test_another_seed_gives_another_order() -> None:
    assert shuffle(ITEMS, "s", "label") != shuffle(ITEMS, "t", "label")


def test_a_seed_can_be_any_text() -> None:
    assert sorted(shuffle(ITEMS, "Ár·víz 🌊 \x00", "label")) == list(ITEMS)


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


def test_each_item_comes_first_equally_often() -> None:
    # 4,000 seeds over 8 items: 500 each, standard deviation 21.
    first = Counter(shuffle(ITEMS, str(seed), "label")[0] for seed in range(4_000))

    assert all(abs(count - 500) < 84 for count in first.values())


def test_different_purposes_are_independent() -> None:
    # Given what one purpose puts first, the other still puts each of 4 first a quarter of the time.
    pairs = Counter(
        (shuffle("ABCD", str(seed), "label")[0], shuffle("ABCD", str(seed), "author")[0])
        for seed in range(4_000)
    )

    # 4,000 / 16 = 250 in each cell, standard deviation 15
    assert len(pairs) == 16
    assert all(abs(count - 250) < 62 for count in pairs.values())
