"""Rounds run with scripted models, and their posts as text."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, repeat

from bot.chat import Buttons, Mentions, Part, Post, Steps, Table, Thread
from bot.render.formatting import author_names
from bot.render.round_report.rankings import MAX_REASON_CHARACTERS
from bot.render.round_report.results import results_post
from bot.render.round_report.thread import details_posts, round_post, whole_round
from council.answers import Reply
from council.panel import Panel
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.registry import NO_PLUGINS, Registry
from council.rounds import Question, Round
from tests.builders import NAMES, a_panel, a_question, a_round
from tests.fakes.gateway import FakeGateway, ReadPrompt
from tests.fakes.memory_store import MemoryStore

SECONDS = 21.4
_MOMENT = re.compile("\uffff\\d+ ([^\uffff]+)\uffff")


async def held(
    gateway: FakeGateway | None = None,
    panel: Panel | None = None,
    question: Question | None = None,
    registry: Registry = NO_PLUGINS,
) -> Round:
    """Return a closed round that lasted 21.4 seconds."""
    store = MemoryStore()
    asked = question or a_question()
    await store.open(a_round(panel or a_panel(4), question=asked, registry=registry))
    ticks = chain([0.0], repeat(SECONDS))
    council = RoundServices(gateway or FakeGateway(), store, clock=lambda: next(ticks))
    return await run_round("r1", council)


async def stages_of(gateway: FakeGateway, panel: Panel) -> Sequence[Round]:
    """Return the round after each of its changes."""
    store, seen = MemoryStore(), list[Round]()
    await store.open(a_round(panel))
    await run_round("r1", RoundServices(gateway, store, on_round=seen.append))
    return seen


def by_first_sign(shown: ReadPrompt) -> str:
    """Rank by the first sign of each text; texts that share it tie."""
    places: dict[str, list[str]] = {}
    for letter, text in sorted(shown.texts.items(), key=lambda item: item[1]):
        places.setdefault(text[0], []).append(letter)
    return shown.ballot(" ".join("=".join(place) for place in places.values()))


def answers(*texts: str | Reply) -> dict[str, str | Reply]:
    """Return each member in panel order its answer."""
    return dict(zip(NAMES, texts, strict=False))


def as_demonstration(panel: Panel) -> Panel:
    """Return the panel with every seat a demonstration model."""
    return replace(
        panel, members=tuple(replace(seat, demonstration=True) for seat in panel.members)
    )


def names_of(round_: Round) -> dict[str, str]:
    """Return the name of the model behind each label."""
    assert round_.draw
    return author_names(round_.panel, round_.draw)


def words_of(post: Post) -> str:
    """Return the text of a post, a line for each part; moments as the terminal shows them."""
    return _MOMENT.sub(r"\1", "\n".join(_words(part) for part in post.parts))


def round_thread(round_: Round) -> Thread:
    """Return a closed round as chats post it: the answer, the results and the rankings."""
    if not (draw := round_.draw):
        return Thread(round_post(round_))
    details = details_posts(round_, draw, MAX_REASON_CHARACTERS)
    return Thread(round_post(round_), (results_post(round_, draw), *details))


def root_of(round_: Round) -> str:
    return words_of(round_post(round_))


def thread_of(round_: Round) -> str:
    return "\n".join(words_of(post) for post in whole_round(round_).replies)


def lines_of(round_: Round, kind: type[Part]) -> list[str]:
    """Return the parts of one kind in the root post, as text."""
    return [_words(part) for part in round_post(round_).parts if isinstance(part, kind)]


def _words(part: Part) -> str:
    match part:
        case Table(columns, rows):
            return "\n".join(" | ".join(row) for row in (columns, *rows))
        case Steps(title, steps):
            return "\n".join([title, *(f"{s.title} {s.state} {s.detail}" for s in steps)])
        case Buttons(buttons, more):
            return " ".join(f"[{button.label}]" for button in (*buttons, *more))
        case Mentions(ids):
            return " ".join(f"<@{id_}>" for id_ in ids)
        case _:
            return part.text
