"""Measure the demo models: `python -m tests.bench.demo [FOLDER]`, on an idle machine of two cores.

Ten questions of one sentence, each with a follow-up: when the first answer can be read, how long a
round takes, and how many of the council's answers are right.
"""

import asyncio
import re
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory

from bot.settings.default_panels import demonstration_panel
from council.gateways.local.gateway import DISPLAYS, SEATED_TWICE, LocalGateway
from council.integrity.erasure import quote_round
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.rounds import Question, Round
from tests.fakes.memory_store import MemoryStore

CORES = 2  # that the models use
MOST_SECONDS, FIRST_SECONDS, LEAST_RIGHT = 40, 3, 7
PLAYS = "hamlet|macbeth|othello|lear|midsummer|tempest|caesar|twelfth|merchant|much ado|shrew"
# A question and its follow-up, each with a pattern of right answers.
PAIRS = (
    ("What is the capital of France?", "paris", "Which river runs through it?", "seine"),
    ("What does HTML stand for?", "markup", "What is it used for?", "web"),
    ("What does CPU stand for?", "central", "What does it do?", "instruct|process|execut|calc"),
    ("Write a Python function that adds two numbers.", r"\+", "Now make it multiply them.", r"\*"),
    ("What is the capital of Italy?", "rome", "And of Spain?", "madrid"),
    ("Who wrote Romeo and Juliet?", "shakespeare", "Name another play by him.", PLAYS),
    ("How many days are in a week?", "seven|7", "And in a year?", "365"),
    ("What colour is the sky on a clear day?", "blue", "And what colour is grass?", "green"),
    ("What is the largest planet in the solar system?", "jupiter", "And the smallest?", "mercury"),
    ("What is 2 plus 2?", "4|four", "And 3 plus 3?", "6|six"),
)


async def measure(gateway: LocalGateway, question: Question, seed: str) -> tuple[Round, float]:
    """Return a closed round of the demo models and when its first answer was in, in seconds."""
    store, began, first = MemoryStore(), time.monotonic(), 0.0

    def on_round(now: Round) -> None:
        nonlocal first
        if now.answers and not first:
            first = time.monotonic() - began

    panel = demonstration_panel(DISPLAYS, SEATED_TWICE)
    round_ = Round(seed, question, panel, seed, datetime.now(UTC))
    await store.open(round_)
    return await run_round(seed, RoundServices(gateway, store, on_round=on_round)), first


async def main(folder: Path) -> None:
    """Print a line for each question, and the totals."""
    gateway = LocalGateway(folder, lambda *_: None)
    await gateway.start()
    seconds, firsts, right = list[float](), list[float](), [0, 0]
    try:
        for number, (asked, wanted, later, wanted_later) in enumerate(PAIRS):
            context = ""
            for turn, (text, pattern) in enumerate(((asked, wanted), (later, wanted_later))):
                question = replace(Question(text, "bench"), context=context)
                round_, first = await measure(gateway, question, f"{number}-{turn}")
                answer = round_.synthesis.text if round_.synthesis else ""
                is_right = bool(re.search(pattern, answer, re.IGNORECASE))
                took = round_.closing.seconds if round_.closing else 0.0
                seconds, firsts = [*seconds, took], [*firsts, first]
                right[turn] += is_right
                mark = "right" if is_right else "wrong"
                said = " ".join(answer.split())[:90]
                print(f"{first:4.1f} {took:5.1f} s  {mark}  {text}  {said}", flush=True)
                context = quote_round(round_)
    finally:
        await gateway.stop()
    print(f"first blind answer: {max(firsts):.1f} s at most (target {FIRST_SECONDS})")
    print(f"one-sentence question done: {max(seconds):.1f} s at most (target {MOST_SECONDS})")
    used = getrusage(RUSAGE_CHILDREN)
    idle = (used.ru_utime + used.ru_stime) / CORES / len(seconds)
    print(f"mean on {CORES} idle cores, by the time the processors worked: {idle:.1f} s")
    print(f"right: {right[0]} of 10; follow-ups {right[1]} of 10 (target {LEAST_RIGHT})")


if __name__ == "__main__":
    with TemporaryDirectory() as temporary:
        asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(temporary)))
