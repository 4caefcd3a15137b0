"""The answers of a closed round in full, best first, with their authors and sources."""

import re
from collections.abc import Iterator
from dataclasses import replace

from bot.chat import Heading, Note, Part, Post, Prose, Quote
from bot.render.formatting import author_names, join_words
from bot.render.round_report.results import ordered_labels
from council.answers import Answer
from council.labels import Label
from council.pipeline.session import mask_answer
from council.rounds import Draw, Round

DRAFT_TITLE = "Its draft, before it read the comments:"


def answers_by_label(round_: Round, draw: Draw) -> Iterator[tuple[Label, Post]]:
    """Yield each answer's label and post, in the order of the standings."""
    authors = author_names(round_.panel, draw)
    answers = {draw.labels.label_of(one.member): one for one in _answers_as_shown(round_)}
    drafts = {draw.labels.label_of(answer.member): answer for answer in round_.answers}
    for label in ordered_labels(round_, draw):
        answer = answers[label]
        title = authors[label]
        notes = []
        if answer.scrubbed:
            masked = join_words(f"“{trace}”" for trace in answer.scrubbed)
            notes.append(Note(f"Judges and chairman saw it with {masked} masked."))
        if answer.reply.cut:
            notes.append(Note("It was cut off at its model's token limit."))
        parts: list[Part] = [Heading(title), *notes, Prose(answer_markdown(answer))]
        if answer.reply != drafts[label].reply:
            parts += [Note(DRAFT_TITLE), Quote(drafts[label].text)]
        yield label, Post(tuple(parts), title)


def _answers_as_shown(round_: Round) -> tuple[Answer, ...]:
    """Return the answers as they stand, a revision with what was masked in it."""
    return tuple(
        answer
        if answer in round_.answers
        else replace(answer, scrubbed=mask_answer(round_, answer).found)
        for answer in round_.revised
    )


def answer_markdown(answer: Answer) -> str:
    """Return an answer as it is read, with links to its sources at the end."""
    if not answer.reply.sources:
        return answer.text
    lines = (f"- [{_link_text(one.title)}](<{one.url}>)" for one in answer.reply.sources)
    return "\n".join((answer.text, "", "Sources:", "", *lines))


def _link_text(title: str) -> str:
    return re.sub(r"[\[\]\\`*_<>]", " ", title).strip() or "source"
