"""A sample of `make hostile`: what each suite bomb takes; other samples are with what they test."""

import tracemalloc
from contextlib import suppress

import pytest

from bot.bakeoffs.suite_files import parse_suite_file
from council.errors import SuiteError
from tests.hostile.attacks import MAX_BOMB_MEMORY
from tests.hostile.suite_bombs import BOMBS


@pytest.mark.parametrize("name", BOMBS)
def test_a_suite_bomb_takes_little_memory(name: str) -> None:
    filename, text = BOMBS[name]
    tracemalloc.start()
    try:
        with suppress(SuiteError):
            parse_suite_file("bomb", filename, text.encode())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < MAX_BOMB_MEMORY


def test_aliases_cannot_multiply_a_text() -> None:
    filename, text = BOMBS["yaml-shared-context"]

    with pytest.raises(SuiteError, match=r"Line [0-9]+: its aliases expand to more text"):
        parse_suite_file("bomb", filename, text.encode())
