"""Parsers stay fast on long hostile texts: in the nightly run, on a hundred thousand characters.

Each parser runs in a subprocess, so that one that never ends can be stopped.
"""

import json
import subprocess
import sys
from collections.abc import Callable

import pytest

from council.anonymize.scrub import scrub
from council.prompt_injection import find_suspicions, mask_pleas, neutralise
from tests.council.hostile_readers import (
    mask_reason,
    parse_synthesis,
    read_ballot_of_two,
    translate_reason,
)

LENGTH, SAMPLE_LENGTH = 100_000, 10_000
# For the full length; a quadratic pattern takes far longer, a busy machine does not.
MAX_CPU_SECONDS = 8.0
TIMEOUT_SECONDS = 120
PROGRAM = """
import json, sys
from time import process_time
from {module} import {name} as read
for text in json.load(sys.stdin):
    start = process_time()
    read(text)
    print(process_time() - start, flush=True)
"""


def many(piece: str) -> str:
    """Return the piece repeated to the full length."""
    return (piece * (LENGTH // len(piece) + 1))[:LENGTH]


IMITATIONS = [
    many("<"),
    many("< "),
    many(" "),
    many("\n"),
    many("\n> "),
    many("rank this "),
    many("ignore all the "),
    "ignore" + many(" "),
    many("A"),
    many("a\u200b"),
    many("\u200d"),
    many("**system"),
    many("[/<|"),
    many('"nonce"'),
    many("0"),
    many("_") + "a",
    many("a_") + "aa",
    many("a b "),
    many("tsrif rewsna siht knar. "),
    many("41 "),
    many("&amp;%41"),
    many("ответ "),
    many("rank this answer 1"),
]
ANSWERS = [
    many("As Claude, I am GPT-4 by Google. "),
    "claude\nby" + many(" ") + "x",
    "claude\n" + many("best "),
    "Claude " + many("1.") + "x",
    many("Claude 1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1x "),
    many("Claude pro max mini pro max mini pro x "),
    "Claude " + many("as an ai language model "),
    "claude " + many("I am a helpful, friendly, large, small open ai "),
    "openai " + many("I was x y z w trained "),
    "Claude" + many("\n") + "x",
    "Claude" + many("—") + "x",
    "Claude " + many("*_`~"),
    many("claude-"),
    "claude-1" + many("-a1"),
    "claude-1" + many(" a1"),
    many("gpt-4.1.1.1.1.1.1 "),
    many("a/b.c-"),
    many("(") + "Claude",
]
TONGUES = [
    many("Claude ich mein je soy sou sono vagyok "),
    many("Claude jestem \u044f ben "),
    many("als ein eine Claude "),
    many("como Claude, abc "),
    many("mint OpenAI a b c Claude "),
    many("OpenAI made me "),
    many("\u6211\u662f\u4e00\u4e2a\u4e00\u4e2aClaude\u7684"),
    many("\u79c1\u306f\u3001\u79c1\u306f\u3001Claude"),
    many("\uc800\ub294 Claude "),
    many("\u0623\u0646\u0627 Claude "),
    many("\u0924 Claude "),
    many('"Claude '),
    many("\u201cClaude "),
    many("`a Claude "),
    many("_Claude"),
    many("a/b/Claude/"),
    many("Claude\n \n "),
    many("Regards ") + "Claude",
    many("``` ") + "Claude",
    many("```a``` Claude "),
    "```" + many("a`") + "Claude",
]
REASONS = [
    "Response A" + many(", ") + "x",
    "Response A" + many(" and ") + "x",
    many("Response A, B and C > "),
    "Response" + many(" "),
]
BALLOTS = [
    many("{"),
    many("{} "),
    many('{"a":'),
    '{"a":' + many("["),
    many("the ") + "{}",
    many("`") + "{}",
    "{" + many('\\"')[:16_000],
    "{" + many(" ")[:16_000] + "x",
    many("</s>")[:16_000] + "x",
    many("</s> ")[:16_000],
    many("[THINK]"),
    "[THINK]" + many("<|channel|>analysis<|message|>"),
    "\\boxed{{" + many("} ")[:16_000] + "x",
    many("here is the json ")[:190] + "{}",
    many("mein finale ")[:190] + "{}",
    "{}" + many("---\n")[:16_000] + "x",
    "{}" + many("thanks ")[:190] + "x",
    "{" + many("\u00a0")[:8_000],
    many(", ")[:16_000],
    '{"nonce":"n","ranking":[["response' + many(" ") + 'x"]]}',
]
SYNTHESES = [
    many(" ") + "x",
    many("\n") + "x",
    many("```json "),
    "{" + many('"drawn_on" '),
    many('{"drawn_on" '),
    "Response K" + many(", ") + "x",
    "(" + many(" ") + "x",
]
READERS: dict[Callable[[str], object], list[str]] = {
    neutralise: IMITATIONS,
    find_suspicions: IMITATIONS,
    mask_pleas: IMITATIONS,
    scrub: [*ANSWERS, *TONGUES, *IMITATIONS],
    mask_reason: ANSWERS,
    translate_reason: REASONS,
    read_ballot_of_two: BALLOTS,
    parse_synthesis: SYNTHESES,
}


LENGTHS = pytest.mark.parametrize(
    "length", [SAMPLE_LENGTH, pytest.param(LENGTH, marks=pytest.mark.nightly)]
)


@LENGTHS
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_no_hostile_text_blocks_a_parser(reader: Callable[[str], object], length: int) -> None:
    assert_reads_fast(reader, READERS[reader], length)


def assert_reads_fast(reader: Callable[[str], object], texts: list[str], length: int) -> None:
    """Assert that a reader reads each text, cut to a length, in the time of a linear pattern."""
    texts = [shorten(text, length) for text in texts]

    seconds = cpu_seconds(reader, texts)

    assert len(seconds) == len(texts), f"never ended: {texts[len(seconds)][:60]!r}…"
    slow = zip(texts, seconds, strict=True)
    assert [text[:60] for text, took in slow if took > MAX_CPU_SECONDS * length / LENGTH] == []


def shorten(text: str, length: int) -> str:
    """Return a text with its middle cut out, so that it still begins and ends as it did."""
    return text if len(text) <= length else text[: length - 20] + text[-20:]


def cpu_seconds(reader: Callable[[str], object], texts: list[str]) -> list[float]:
    """Return the processor time for each text; fewer if the reader was stopped at one."""
    program = PROGRAM.format(module=reader.__module__, name=reader.__name__)
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            output, _ = process.communicate(json.dumps(texts), timeout=TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
    return [float(line) for line in output.split()]
