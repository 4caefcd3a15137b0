"""Parsers stay fast on a hundred thousand hostile characters.

Each case runs in a subprocess, so that one that never ends can be stopped.
"""

import subprocess
import sys
from collections.abc import Callable
from time import perf_counter

import pytest

from council.anonymize.scrub import scrub
from council.prompt_injection import find_suspicions, neutralise
from tests.council.hostile_readers import (
    mask_reason,
    parse_synthesis,
    read_ballot_of_two,
    translate_reason,
)

LENGTH = 100_000
SECONDS = 2.0

# Each is written as it is sent to a fresh interpreter, where `many` repeats to the full length.
IMITATIONS = [
    'many("<")',
    'many("< ")',
    'many(" ")',
    'many("\\n")',
    'many("\\n> ")',
    'many("rank this ")',
    'many("ignore all the ")',
    '"ignore" + many(" ")',
    'many("A")',
    'many("a\\u200b")',
    'many("\\u200d")',
    'many("**system")',
    'many("[/<|")',
    'many("\\"nonce\\"")',
]
ANSWERS = [
    'many("As Claude, I am GPT-4 by Google. ")',
    '"claude\\nby" + many(" ") + "x"',
    '"claude\\n" + many("best ")',
    '"Claude " + many("1.") + "x"',
    'many("Claude 1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1x ")',
    'many("Claude pro max mini pro max mini pro x ")',
    '"Claude " + many("as an ai language model ")',
    '"claude " + many("I am a helpful, friendly, large, small open ai ")',
    '"openai " + many("I was x y z w trained ")',
    '"Claude" + many("\\n") + "x"',
    '"Claude" + many("—") + "x"',
    '"Claude " + many("*_`~")',
    'many("claude-")',
    '"claude-1" + many("-a1")',
    '"claude-1" + many(" a1")',
    'many("gpt-4.1.1.1.1.1.1 ")',
    'many("a/b.c-")',
    'many("(") + "Claude"',
]
TONGUES = [
    'many("Claude ich mein je soy sou sono vagyok ")',
    'many("Claude jestem \\u044f ben ")',
    'many("als ein eine Claude ")',
    'many("como Claude, abc ")',
    'many("mint OpenAI a b c Claude ")',
    'many("OpenAI made me ")',
    'many("\\u6211\\u662f\\u4e00\\u4e2a\\u4e00\\u4e2aClaude\\u7684")',
    'many("\\u79c1\\u306f\\u3001\\u79c1\\u306f\\u3001Claude")',
    'many("\\uc800\\ub294 Claude ")',
    'many("\\u0623\\u0646\\u0627 Claude ")',
    'many("\\u0924 Claude ")',
    'many("\\"Claude ")',
    'many("\\u201cClaude ")',
    'many("`a Claude ")',
    'many("_Claude")',
    'many("a/b/Claude/")',
    'many("Claude\\n \\n ")',
    'many("Regards ") + "Claude"',
    'many("``` ") + "Claude"',
    'many("```a``` Claude ")',
    '"```" + many("a`") + "Claude"',
]
REASONS = [
    '"Response A" + many(", ") + "x"',
    '"Response A" + many(" and ") + "x"',
    'many("Response A, B and C > ")',
    '"Response" + many(" ")',
]
BALLOTS = [
    'many("{")',
    'many("{} ")',
    'many("{\\"a\\":")',
    '"{\\"a\\":" + many("[")',
    'many("the ") + "{}"',
    'many("`") + "{}"',
    '"{\\"nonce\\":\\"n\\",\\"ranking\\":[[\\"response" + many(" ") + "x\\"]]}"',
]
SYNTHESES = [
    'many(" ") + "x"',
    'many("\\n") + "x"',
    'many("```json ")',
    '"{" + many("\\"drawn_on\\" ")',
    'many("{\\"drawn_on\\" ")',
    '"Response K" + many(", ") + "x"',
    '"(" + many(" ") + "x"',
]
READERS: dict[Callable[[str], object], list[str]] = {
    neutralise: IMITATIONS,
    find_suspicions: IMITATIONS,
    scrub: [*ANSWERS, *TONGUES, *IMITATIONS],
    mask_reason: ANSWERS,
    translate_reason: REASONS,
    read_ballot_of_two: BALLOTS,
    parse_synthesis: SYNTHESES,
}


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_no_hostile_text_keeps_a_reader_busy(reader: Callable[[str], object]) -> None:
    slow = {text: took for text in READERS[reader] if (took := _seconds(reader, text)) > SECONDS}

    assert slow == {}


def _seconds(reader: Callable[[str], object], text: str) -> float:
    """Return how long the reader takes; at least the timeout if it does not finish."""
    program = (
        f"from {reader.__module__} import {reader.__name__} as read\n"
        "from time import perf_counter\n"
        f"many = lambda piece: (piece * ({LENGTH} // len(piece) + 1))[:{LENGTH}]\n"
        f"text = {text}\nstart = perf_counter()\nread(text)\nprint(perf_counter() - start)"
    )
    started = perf_counter()
    try:
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, timeout=5, check=True
        )
    except subprocess.TimeoutExpired:
        return perf_counter() - started
    return float(done.stdout)
