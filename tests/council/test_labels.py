"""Public labels hide the authors of one round."""

from collections import Counter

import pytest

from council.labels import PUBLIC_LETTERS, draw_labels
from tests.builders import KEYS


def test_every_author_has_a_distinct_label() -> None:
    drawn = draw_labels(KEYS[:10], "seed")

    assert drawn.authors == KEYS[:10]
    assert len(set(drawn.labels)) == 10
    assert set(drawn.labels) <= set(PUBLIC_LETTERS)


def test_a_label_leads_to_its_author_and_back() -> None:
    drawn = draw_labels(KEYS[:5], "seed")

    for author in drawn.authors:
        label = drawn.label_of(author)
        assert label is not None
        assert drawn.author_of(label) == author


def test_an_absent_member_has_no_label() -> None:
    assert draw_labels(KEYS[:2], "seed").label_of(KEYS[2]) is None


@pytest.mark.parametrize("seat", [0, 3])
def test_labels_are_independent_of_seats(seat: int) -> None:
    # 3,200 seeds over 16 letters: 200 each, standard deviation 13.7
    drawn = Counter(draw_labels(KEYS[:4], str(seed)).labels[seat] for seed in range(3_200))

    assert set(drawn) == set(PUBLIC_LETTERS)
    assert all(abs(count - 200) < 60 for count in drawn.values())
