"""Names of people in place of pseudonyms ("Person 1"), where people read what models wrote."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from bot.chat import Button, File, Mentions, Post
from bot.render.formatting import seat_names
from bot.render.text_safety import shorten_to_line
from council.people import Person
from council.ports import RoundSummary
from council.rounds import Round

PSEUDONYM = re.compile(r"\bPerson (\d{1,4})\b")
_MARKUP = re.compile(r"[`*\[\]<>|\\]")
_MAX_NAME = 60  # characters


def with_names(post: Post, round_: Round) -> Post:
    """Return a post of a round with the names of the people in its thread."""
    reading = round_.question.reading
    if reading is None:
        return post
    return name_people(post, reading.people, seat_names(round_.panel).values())


def named_round(round_: Round) -> Round:
    """Return a round with the names of the people in its thread, to be read by people only.

    It is not as it was stored: neither its seal nor its prompts match.
    """
    reading = round_.question.reading
    if reading is None or not reading.people:
        return round_
    name = _namer(reading.people, seat_names(round_.panel).values())
    named: Round = _edit_texts(round_, name)
    return replace(named, question=replace(named.question, reading=reading))


def named_question(line: RoundSummary) -> str:
    """Return the question of a line in a list, with the names of the people in its thread."""
    return _namer(line.people)(line.question)


def name_people(post: Post, people: Sequence[Person], reserved: Iterable[str] = ()) -> Post:
    """Return a post with the names of people in all its texts.

    A name that is also one in `reserved`, such as a model's, or looks like a pseudonym, is said to
    be a person's.
    """
    if not people:
        return post
    name = _namer(people, reserved)
    parts = tuple(_edit_texts(part, name) for part in post.parts)
    return replace(post, parts=parts, summary=name(post.summary))


def _namer(people: Sequence[Person], reserved: Iterable[str] = ()) -> Callable[[str], str]:
    """Return a function that puts names in the place of pseudonyms."""
    models = {name.casefold() for name in reserved}
    names = {one.number: _shown_name(one, models) for one in people}
    return lambda text: PSEUDONYM.sub(lambda found: names.get(int(found[1]), found[0]), text)


def _shown_name(person: Person, models: set[str]) -> str:
    shown = shorten_to_line(_MARKUP.sub("", person.name), _MAX_NAME) or person.id
    is_ambiguous = shown.casefold() in models or PSEUDONYM.search(shown)
    return f"“{shown}” (a person)" if is_ambiguous else shown


def _edit_texts(value: Any, edit: Callable[[str], str]) -> Any:  # noqa: ANN401
    """Return a part with every text in it edited, except those of buttons and files."""
    if isinstance(value, Button | File | Mentions):
        return value
    if type(value) is str:  # no enum
        return edit(value)
    if isinstance(value, tuple):
        return tuple(_edit_texts(one, edit) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        changed = {one.name: _edit_texts(getattr(value, one.name), edit) for one in fields(value)}
        return replace(value, **changed)
    return value
