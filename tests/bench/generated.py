"""Answers drawn at random, every construct of Markdown among them, as one chat would send them."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable

from hypothesis import HealthCheck, given, settings

from bot.chat import Button, Buttons, Caution, Heading, Note, Post, Prose
from bot.render.round_report import ACTIONS
from tests.bot.render.markdowns import MARKDOWN

ANSWERS = 10_000

Found = Iterable[Counter[str]]  # what is counted in one page: "over limit", "pings"


def a_post(text: str) -> Post:
    """Return a root message with every optional part."""
    return Post(
        (
            Heading("Which queue should we use, if all we run is Postgres?"),
            Caution("Gemini 3 Pro did not answer in 60 s; three answers were ranked."),
            Prose(text),
            Note("First: Claude Sonnet 4.6, on 2 of 3 ballots · 21 s · $0.043"),
            Buttons(tuple(Button(action, label, "r" * 36) for action, label in ACTIONS)),
        ),
        "Which queue?",
    )


def measure(chat: str, looked_at: Callable[[Post], Found]) -> int:
    """Print how many answers and pages there were, and what was wrong with them; 1 if anything."""
    count = Counter[str]()
    began = time.monotonic()

    @settings(
        max_examples=ANSWERS,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(MARKDOWN)
    def look(text: str) -> None:
        count["answers"] += 1
        for page in looked_at(a_post(text)):
            count["pages"] += 1
            count.update(page)
            if page and count.total() < ANSWERS:
                print(repr(text)[:300], dict(page), file=sys.stderr)

    look()
    seconds = time.monotonic() - began
    print(
        f"{chat}: {count['answers']:,} answers, {count['pages']:,} messages, "
        f"over a limit {count['over limit']}, pings {count['pings']}, {seconds:.0f} s"
    )
    return int(bool(count["over limit"] or count["pings"]))
