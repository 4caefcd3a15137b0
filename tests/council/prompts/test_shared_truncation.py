"""All answers are truncated to the longest common length that fits, at whole characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from council.pipeline.stages import candidate_lengths, truncate_all
from council.prompts.shared import (
    BYTES_PER_TOKEN,
    MIN_TOKENS,
    SHORTENED_MARK,
    common_length,
    estimate_tokens,
    truncate,
)

TEXTS = st.lists(st.text(max_size=200), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("abc", 1), ("abcd", 2), ("字", 1), ("字字", 2), ("👍", 2)],
)
def test_a_token_is_three_bytes_at_most(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(TEXTS, st.integers(-50, 400))
def test_the_common_length_is_the_greatest_at_which_all_fit(texts: list[str], budget: int) -> None:
    sizes = [estimate_tokens(text) for text in texts]

    length = common_length(texts, budget)

    if length is None:
        assert sum(sizes) <= max(0, budget)
    else:
        assert sum(min(size, length) for size in sizes) <= max(0, budget)
        assert sum(min(size, length + 1) for size in sizes) > budget


@given(TEXTS, st.integers(0, 400))
def test_texts_cut_to_the_common_length_fit(texts: list[str], budget: int) -> None:
    length = common_length(texts, budget)

    cut = texts if length is None else [truncate(text, length) for text in texts]

    assert sum(map(estimate_tokens, cut)) <= budget


def test_empty_answers_always_fit() -> None:
    assert common_length(["", ""], -1) in (None, 0)


def test_long_answers_use_the_room_of_short_ones() -> None:
    assert common_length(["a" * 30, "b" * 300, "c" * 300], 110) == 50


@given(st.text(), st.integers(0, 50))
def test_a_truncated_text_ends_at_a_whole_character(text: str, tokens: int) -> None:
    cut = truncate(text, tokens)

    assert text.startswith(cut)
    assert len(cut.encode()) <= tokens * BYTES_PER_TOKEN
    assert cut == text or len(text[: len(cut) + 1].encode()) > tokens * BYTES_PER_TOKEN


@pytest.mark.parametrize(
    ("budget", "lengths"),
    [
        pytest.param(None, (None, 150), id="unknown-context-is-trusted-then-halved"),
        pytest.param(600, (None, 150), id="fits"),
        pytest.param(599, (285, 142), id="just-too-long"),
        pytest.param(188, (80, 40), id="half-is-the-least-that-can-be-judged"),
        pytest.param(186, (79,), id="half-is-too-short"),
        pytest.param(78, (), id="too-short-to-judge"),
        pytest.param(-5, (), id="no-room-at-all"),
    ],
)
def test_lengths_to_try_are_whole_fitting_or_half(
    budget: int | None, lengths: tuple[int | None, ...]
) -> None:
    assert candidate_lengths(["a" * 900, "b" * 900], budget) == lengths


def test_no_length_is_too_short_to_judge() -> None:
    assert candidate_lengths(["Yes."], None) == (None,)
    assert MIN_TOKENS == 40


def test_all_answers_are_truncated_and_marked_equally() -> None:
    shown = truncate_all({"A": "a" * 900, "B": "b" * 6}, 50)

    assert shown == {"A": f"{'a' * 150}\n{SHORTENED_MARK}", "B": f"bbbbbb\n{SHORTENED_MARK}"}


def test_answers_that_fit_are_unchanged() -> None:
    assert truncate_all({"A": "a" * 900}, None) == {"A": "a" * 900}
