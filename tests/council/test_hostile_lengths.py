"""A hundred thousand hostile characters keep no reader busy: a guard, not a bench.

Each case runs in a process of its own, so that one that never ends can be stopped.
"""

import subprocess
import sys
from time import perf_counter

import pytest

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
READERS = {
    "defused": ("from council.prompt_injection import defused as read", IMITATIONS),
    "suspicions": ("from council.prompt_injection import suspicions as read", IMITATIONS),
    "scrub": ("from council.scrub import scrub as read", [*ANSWERS, *TONGUES, *IMITATIONS]),
    "without_names": (
        "from council.scrub import without_names\n"
        "read = lambda text: without_names(text, ['anthropic', 'openai', 'google'])",
        ANSWERS,
    ),
    "reasons": (
        "from council.ballots import in_public_labels\n"
        "read = lambda text: in_public_labels(text, {'A': 'K'})",
        REASONS,
    ),
    "ballots": (
        "from council.ballots import read_ballot\nread = lambda text: read_ballot(text, 'n', 'AB')",
        BALLOTS,
    ),
    "syntheses": (
        "from council.prompts.synthesis import read_chair_reply\n"
        "read = lambda text: read_chair_reply(text, 'KL')",
        SYNTHESES,
    ),
}


@pytest.mark.parametrize("reader", READERS)
def test_no_hostile_text_keeps_a_reader_busy(reader: str) -> None:
    source, texts = READERS[reader]

    slow = {text: took for text in texts if (took := _seconds(source, text)) > SECONDS}

    assert slow == {}


def _seconds(source: str, text: str) -> float:
    """Give how long the reader took, or as long as it was given."""
    program = (
        f"{source}\nfrom time import perf_counter\n"
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
